// Requests wait for the next event-loop turn once the time slice of this turn is exhausted: a client may send thousands at
// once, and each is answered as it is read. The longer the first has waited, the longer the slice.
import { TimeSlice } from '../lib/scheduling/time-slice.js';

/** The most requests of one connection that begin in an event-loop turn while others wait. */
const MAX_BEGUN = 16;

export interface Reader {
  /** Reads what waits. */
  resumeReading(): void;
}

export class Reading {
  #waiting: { readonly reader: Reader; readonly sinceMs: number }[] = [];
  #next = 0;
  readonly #share: TimeSlice;

  constructor(private readonly nowMs: () => number) {
    this.#share = new TimeSlice(
      nowMs,
      () => this.#resume(),
      () => this.#waiting[this.#next]?.sinceMs,
    );
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
    this.#waiting.push({ reader, sinceMs: this.nowMs() });
    // Reading `over` starts the time slice, whose end resumes the queue.
    void this.over;
  }

  #resume(): void {
    const { length } = this.#waiting;
    while (this.#next < length && !this.over) this.#waiting[this.#next++]?.reader.resumeReading();
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
