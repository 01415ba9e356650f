// Requests wait for the next turn once this one has lasted: a client may send thousands at once, each of which is answered
// as it is read.

/** So long requests begin in one turn. */
const TURN_MS = 5;
/** So many of one connection begin while others wait. */
const MOST_BEGUN = 16;

export interface Reader {
  /** Reads what waits. */
  readOn(): void;
}

export class Reading {
  #waiting: Reader[] = [];
  #next = 0;
  #began = false;
  #beganMs = 0;

  constructor(private readonly nowMs: () => number) {}

  /** Whoever reads now holds up others. */
  // hot: once for each piece that comes, and for each request.
  get over(): boolean {
    if (this.#began) return this.nowMs() - this.#beganMs >= TURN_MS;
    this.#began = true;
    this.#beganMs = this.nowMs();
    setImmediate(this.#end);
    return false;
  }

  /** Of a connection so many requests began in this turn, and its others are left for later. */
  enough(begun: number): boolean {
    return (begun >= MOST_BEGUN && this.#next < this.#waiting.length) || this.over;
  }

  /** Those who wait go on one after the other. Whoever asks sees to it that it asks once. */
  later(reader: Reader): void {
    this.#waiting.push(reader);
    // This turn has begun, and at its end somebody looks.
    void this.over;
  }

  readonly #end = (): void => {
    this.#began = false;
    const { length } = this.#waiting;
    while (this.#next < length && !this.over) (this.#waiting[this.#next++] as Reader).readOn();
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    } else if (this.#next > MOST_GONE) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
  };
}

const MOST_GONE = 1024;
