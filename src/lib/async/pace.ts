/** How long a flow must wait to keep to a rate. What was not used is saved up, but for one second at most. */
export class Pace {
  readonly #bytesPerSecond: number;
  #freeAtMs = performance.now();

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  spend(bytes: number): void {
    const earliestMs = performance.now() - 1000;
    this.#freeAtMs = Math.max(this.#freeAtMs, earliestMs) + (bytes / this.#bytesPerSecond) * 1000;
  }

  /** Until more may be sent; 0 when it may be now. */
  get waitMs(): number {
    return Math.max(0, this.#freeAtMs - performance.now());
  }
}
