// The store's latest revision, for reads that must be fresh. It is fresh for a read when etcd reported it in the answer to a
// request that left after the read came: what was written before the read has this revision or an earlier one. Any answer
// that went through etcd's consensus will do, so a question of its own is only sent where no write is on its way:
//
//   read      a b      c         d e
//   question  ├─ a b ──┤
//   write        ├──────────┤                      left before c came: says nothing for it
//   write                 ├──── c ──┤              nor for d and e
//   question                     ├── d e ──┤
//
// What is sent leaves at the end of an iteration of the event loop, so the reads of that iteration came before it. What
// leaves earlier, with other calls, says so (`departed`). A question leaves an iteration after its first read.
import { type Clock, systemClock } from '../../lib/async/clock.js';

/** A read waits no longer for requests that are under way before a question of its own leaves. */
export const OVERTAKE_MS = 20;
const MAX_QUESTIONS = 4;

export interface LatestRevisionOptions {
  /** Sends a question, announced by `leaves`, and passes its answer to `answered`. */
  readonly ask: () => Promise<unknown>;
  readonly clock?: Clock;
  readonly atIterationEnd?: (run: () => void) => void;
}

/** The requests that leave at the end of one iteration. */
export interface Departure {
  readonly number: number;
  /** Without an answer so far. */
  underWay: number;
}

/** Reads between two departures. */
interface Reads {
  /** The departure before them. */
  readonly after: number;
  readonly revision: Promise<number>;
  readonly resolve: (revision: number) => void;
  readonly reject: (error: unknown) => void;
}

export class LatestRevision {
  readonly #ask: () => Promise<unknown>;
  readonly #clock: Clock;
  readonly #atIterationEnd: (run: () => void) => void;
  /** The oldest first; each has come after another departure. */
  #reads: Reads[] = [];
  /** The number of the last departure that is over. */
  #departed = 0;
  /** Of those with requests under way; the first and the last have some. */
  #underWay: Departure[] = [];
  #questions = 0;
  #isAboutToAsk = false;
  #stopTimer: (() => void) | undefined;

  constructor({ ask, clock = systemClock, atIterationEnd = (run) => void setImmediate(run) }: LatestRevisionOptions) {
    this.#ask = ask;
    this.#clock = clock;
    this.#atIterationEnd = atIterationEnd;
  }

  // hot: every consistent read
  get(): Promise<number> {
    const newest = this.#reads.at(-1);
    if (newest?.after === this.#departed) return newest.revision;
    let resolve!: (revision: number) => void;
    let reject!: (error: unknown) => void;
    const revision = new Promise<number>((yes, no) => {
      resolve = yes;
      reject = no;
    });
    this.#reads.push({ after: this.#departed, revision, resolve, reject });
    this.#askIfNeeded();
    return revision;
  }

  /** A request is sent whose answer has the latest revision: a write, or a read through the consensus. */
  // hot: every write
  leaves(): Departure {
    const number = this.#departed + 1;
    let departure = this.#underWay.at(-1);
    if (departure?.number !== number) {
      departure = { number, underWay: 0 };
      this.#underWay.push(departure);
      this.#atIterationEnd(() => this.#depart(number));
    }
    departure.underWay++;
    return departure;
  }

  /** Requests are on their way to etcd: no read from now on may have the answer of one that has begun. */
  // hot: every write to etcd's connections
  departed(): void {
    this.#depart(this.#newestUnderWay);
  }

  #depart(number: number): void {
    if (number > this.#departed) this.#departed = number;
  }

  answered(departure: Departure, revision: number): void {
    this.#arrived(departure);
    while (this.#reads[0] !== undefined && this.#reads[0].after < departure.number) {
      (this.#reads.shift() as Reads).resolve(revision);
    }
    this.#askIfNeeded();
  }

  /** There is no answer, and will be none. */
  failed(departure: Departure): void {
    this.#arrived(departure);
    this.#askIfNeeded();
  }

  #arrived(departure: Departure): void {
    departure.underWay--;
    while (this.#underWay.at(-1)?.underWay === 0) this.#underWay.pop();
    while (this.#underWay[0]?.underWay === 0) this.#underWay.shift();
  }

  #askIfNeeded(): void {
    const newest = this.#reads.at(-1);
    if (newest === undefined) {
      this.#stopTimer?.();
      this.#stopTimer = undefined;
      return;
    }
    if (this.#questions === 0 && this.#newestUnderWay <= newest.after) this.#askSoon();
    else this.#stopTimer ??= this.#clock.after(OVERTAKE_MS, this.#overtake);
  }

  get #newestUnderWay(): number {
    return this.#underWay.at(-1)?.number ?? 0;
  }

  /**
   * At the end of the next iteration. While one is busy with the answers to the last question, their clients' next reads
   * come, and share this one; or a write leaves, whose answer will do.
   */
  #askSoon(): void {
    if (this.#isAboutToAsk) return;
    this.#isAboutToAsk = true;
    this.#atIterationEnd(() => this.#atIterationEnd(this.#askNow));
  }

  readonly #askNow = (): void => {
    this.#isAboutToAsk = false;
    const newest = this.#reads.at(-1);
    if (newest === undefined || this.#questions > 0 || this.#newestUnderWay > newest.after) return;
    this.#sendQuestion();
    // It may leave in this iteration or in the next: what is read from now on comes after it.
    this.departed();
  };

  readonly #overtake = (): void => {
    this.#stopTimer = undefined;
    if (this.#reads.length > 0 && this.#questions < MAX_QUESTIONS) this.#sendQuestion();
  };

  #sendQuestion(): void {
    const upTo = this.#departed;
    this.#questions++;
    this.#ask().then(
      () => {
        this.#questions--;
        this.#askIfNeeded();
      },
      (error: unknown) => {
        this.#questions--;
        while (this.#reads[0] !== undefined && this.#reads[0].after <= upTo)
          (this.#reads.shift() as Reads).reject(error);
        this.#askIfNeeded();
      },
    );
  }
}
