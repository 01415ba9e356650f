// The most that a count became within the second before this one. A count that did not change in it has no peak, so
// that a single long request is seen in its first second and in its last.
//
//   second      |   0   |   1   |   2   |
//   count        1 2 1     1             (still 1)
//   peak                2       1       0

const SECOND_MS = 1000;

export class LastSecondPeak {
  #second = 0;
  #peak = 0;
  #peakBefore = 0;

  constructor(private readonly nowMs: () => number) {}

  // hot: twice for each request.
  observe(count: number): void {
    this.#advance();
    if (count > this.#peak) this.#peak = count;
  }

  get value(): number {
    this.#advance();
    return this.#peakBefore;
  }

  #advance(): void {
    const second = Math.floor(this.nowMs() / SECOND_MS);
    if (second === this.#second) return;
    this.#peakBefore = second === this.#second + 1 ? this.#peak : 0;
    this.#peak = 0;
    this.#second = second;
  }
}
