// Requests wait for the next turn once this one has lasted: a client may send thousands at once, each of which is answered
// as it is read.
import { TimeSlice } from '../lib/scheduling/yield.js';

/** So many of one connection begin while others wait. */
const MAX_BEGUN = 16;

export interface Reader {
  /** Reads what waits. */
  resumeReading(): void;
}

export class Reading {
  #waiting: Reader[] = [];
  #next = 0;
  readonly #share: TimeSlice;

  constructor(nowMs: () => number) {
    this.#share = new TimeSlice(nowMs, () => this.#resume());
  }

  /** Whoever reads now holds up others. */
  // hot: once for each piece that comes, and for each request.
  get over(): boolean {
    return this.#share.exhausted;
  }

  /** Of a connection so many requests began in this turn, and its others are left for later. */
  enough(begun: number): boolean {
    return (begun >= MAX_BEGUN && this.#next < this.#waiting.length) || this.over;
  }

  /** Those who wait go on one after the other. Whoever asks sees to it that it asks once. */
  later(reader: Reader): void {
    this.#waiting.push(reader);
    // This turn has begun, and at its end somebody looks.
    void this.over;
  }

  #resume(): void {
    const { length } = this.#waiting;
    while (this.#next < length && !this.over) (this.#waiting[this.#next++] as Reader).resumeReading();
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    } else if (this.#next > MAX_CONSUMED) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
  }
}

const MAX_CONSUMED = 1024;
