// Requests wait for the next turn of the event loop once the time slice of this turn is exhausted: a client may send
// thousands at once, and each is answered as it is read.
import { TimeSlice } from '../lib/scheduling/yield.js';

/** The most requests of one connection that begin in an event-loop turn while others wait. */
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

  /** The time slice of this event-loop turn is exhausted. */
  // hot: once for each piece that comes, and for each request.
  get over(): boolean {
    return this.#share.exhausted;
  }

  /** Whether a connection that began `begun` requests in this event-loop turn has to leave its others for later. */
  enough(begun: number): boolean {
    return (begun >= MAX_BEGUN && this.#next < this.#waiting.length) || this.over;
  }

  /** Queues a reader. Readers resume in order; a reader must not queue twice. */
  later(reader: Reader): void {
    this.#waiting.push(reader);
    // Reading `over` starts the time slice, whose end resumes the queue.
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
