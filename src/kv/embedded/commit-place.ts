// Where a commit of a single write runs. On this thread it is done soonest, and everything else waits until the disk has
// synced; on the engine's thread others go on meanwhile, for the price of a round trip. So it depends on how much else there
// is to do: with the thread at work for u of the time, a commit of d milliseconds delays u * d milliseconds of work.
//
//   |--- others ---|== commit ==|--- others ---|        here: what arrives during the commit waits
//   |--- others ---|-|- others -|-|--- others -|        there: twice a little of this thread
import { performance } from 'node:perf_hooks';

/** Delaying this much work of others costs as much as the round trip. */
const ROUND_TRIP_MS = 0.15;
/** A commit that takes longer than this runs elsewhere even if nothing else is to do now: requests may arrive meanwhile. */
const MAX_HERE_MS = 1.5;
/** The average duration is over about so many commits. */
const AVERAGED_COMMITS = 8;
/** How long the use of the thread is measured before it counts. */
const WINDOW_MS = 100;

/** What the event loop did since it started. */
export interface LoopTimes {
  readonly active: number;
  readonly idle: number;
}

export class CommitPlace {
  readonly #loopTimes: () => LoopTimes;
  #windowStart: LoopTimes;
  /** Of commits on this thread since the window began: the loop counts them as work. */
  #hereMs = 0;
  /** The part of the last whole window in which this thread worked for others. */
  #use = 0;
  #averageMs = 0;

  constructor(loopTimes: () => LoopTimes = () => performance.eventLoopUtilization()) {
    this.#loopTimes = loopTimes;
    this.#windowStart = loopTimes();
  }

  // hot: every commit of a single write
  isHere(): boolean {
    this.#measureUse();
    return this.#averageMs <= MAX_HERE_MS && this.#use * this.#averageMs <= ROUND_TRIP_MS;
  }

  /** A commit of a single write is done. */
  took(ms: number, here: boolean): void {
    if (here) this.#hereMs += ms;
    this.#averageMs += (ms - this.#averageMs) / AVERAGED_COMMITS;
  }

  #measureUse(): void {
    const now = this.#loopTimes();
    const active = now.active - this.#windowStart.active;
    const all = active + now.idle - this.#windowStart.idle;
    if (all < WINDOW_MS) return;
    this.#use = Math.max(0, active - this.#hereMs) / all;
    this.#windowStart = now;
    this.#hereMs = 0;
  }
}
