// Work on large things that has yielded, in the order in which it did. Together it has one slice of each event loop
// iteration, which is the longer the longer others have held the thread.
//
//   waiting → [ list ] → [ list ] → [ encoder ]     after 40 ms of others the first may hold the thread for 20 ms, then all
//                                                   wait for the next iteration, and it goes to the end when it yields
import { SLICE_MS, TimeSlice } from './time-slice.js';

interface Waiting {
  readonly sinceMs: number;
  readonly resume: (sliceMs: number) => void;
}

export class YieldQueue {
  #waiting: Waiting[] = [];
  #next = 0;
  readonly #slice: TimeSlice;

  /** `later`: calls back when others have been served. */
  constructor(
    private readonly nowMs: () => number,
    private readonly later: (run: () => void) => void,
  ) {
    this.#slice = new TimeSlice(nowMs, undefined, () => this.#waiting[this.#next]?.sinceMs);
  }

  /** Resolves when it is the caller's turn, with how long the caller may hold the thread. */
  wait(): Promise<number> {
    return new Promise((resume) => {
      this.#waiting.push({ sinceMs: this.nowMs(), resume });
      this.later(this.#resumeNext);
    });
  }

  /** Called once for each that waits. */
  readonly #resumeNext = (): void => {
    if (this.#slice.exhausted) return void setImmediate(this.#resumeNext);
    const next = this.#waiting[this.#next];
    if (next === undefined) return;
    this.#next++;
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    } else if (this.#next >= MAX_CONSUMED) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    next.resume(Math.max(SLICE_MS, this.#slice.remainingMs));
  };
}

const MAX_CONSUMED = 1024;
