// Where a commit of a single write runs. On this thread it is done soonest, and everything else waits until the disk has
// synced; on the engine's thread others go on meanwhile, for the price of a round trip. So it depends on how much others have
// this thread do during a commit. That shows in commits on the engine's thread: every few commits one runs there to find out.
//
//   |--- others ---|== commit ==|--- others ---|        here: what arrives during the commit waits
//   |--- others ---|-|- others -|-|--- others -|        there: twice a little of this thread
//
// A lone writer waits for its commit: this thread may be busy with its requests all the time, and nobody waits.
import { performance } from 'node:perf_hooks';

/** Where less than this was done during a commit, the round trip was most of it. */
const MAX_DELAYED_MS = 0.25;
/** A commit that takes longer than this runs elsewhere even if nothing else is to do now: requests may arrive meanwhile. */
const MAX_HERE_MS = 1.5;
/** Averages are over about so many commits. */
const AVERAGED_COMMITS = 8;
const AVERAGED_PROBES = 4;
/** One of so many commits runs elsewhere, to measure. */
const PROBE_EVERY = 16;

/** What the event loop did since it started. */
export interface LoopTimes {
  readonly active: number;
}

export class CommitPlace {
  readonly #loopTimes: () => LoopTimes;
  #averageMs = 0;
  /** What this thread does for others during a commit. */
  #delayedMs = 0;
  #sinceProbe = 0;
  #activeBefore = 0;

  constructor(loopTimes: () => LoopTimes = () => performance.eventLoopUtilization()) {
    this.#loopTimes = loopTimes;
  }

  /** Whether the commit of a single write that begins now runs on this thread. */
  // hot: every commit of a single write
  begins(): boolean {
    const isCheap = this.#averageMs <= MAX_HERE_MS && this.#delayedMs <= MAX_DELAYED_MS;
    if (isCheap && ++this.#sinceProbe < PROBE_EVERY) return true;
    this.#sinceProbe = 0;
    this.#activeBefore = this.#loopTimes().active;
    return false;
  }

  /** That commit is done. */
  ended(ms: number, here: boolean): void {
    this.#averageMs += (ms - this.#averageMs) / AVERAGED_COMMITS;
    if (here) return;
    const workedMs = this.#loopTimes().active - this.#activeBefore;
    this.#delayedMs += (workedMs - this.#delayedMs) / AVERAGED_PROBES;
  }
}
