// Requests wait for the next turn once this one has lasted: a client may send thousands at once, each of which is answered
// as it is read.
import { TurnShare } from '../lib/turns.js';

/** So many of one connection begin while others wait. */
const MOST_BEGUN = 16;

export interface Reader {
  /** Reads what waits. */
  readOn(): void;
}

export class Reading {
  #waiting: Reader[] = [];
  #next = 0;
  readonly #share: TurnShare;

  constructor(nowMs: () => number) {
    this.#share = new TurnShare(nowMs, () => this.#goOn());
  }

  /** Whoever reads now holds up others. */
  // hot: once for each piece that comes, and for each request.
  get over(): boolean {
    return this.#share.isSpent;
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

  #goOn(): void {
    const { length } = this.#waiting;
    while (this.#next < length && !this.over) (this.#waiting[this.#next++] as Reader).readOn();
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    } else if (this.#next > MOST_GONE) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
  }
}

const MOST_GONE = 1024;
