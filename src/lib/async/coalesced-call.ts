import { type Clock, systemClock } from './clock.js';

export interface CoalescedCallOptions {
  /** 1: no call begins before the one in flight has settled, however long that takes. */
  readonly maxInFlight?: number;
  /** What it sends does not wait for the end of the iteration: whoever comes later shares the next call. */
  readonly leavesAtOnce?: boolean;
  readonly clock?: Clock;
  readonly atIterationEnd?: (run: () => void) => void;
}

const MAX_IN_FLIGHT = 4;
/** A caller waits no longer for the call in flight before the next one begins. */
export const OVERTAKE_MS = 20;

/**
 * A call whose answer must be no older than the request for it. Callers within one iteration of the event loop share one
 * call where what it sends leaves at the end of the iteration. Callers that come while it is in flight share the next one,
 * which begins when it settles: the busier the server, the more callers have one call. A call that takes long holds
 * nobody up: another one overtakes it.
 *
 *   caller   a b      c d e            f
 *   call     ├─ a b ──┼─┤├── c d e ────┼─┤├─ f ──
 */
export class CoalescedCall<T> {
  readonly #start: () => Promise<T>;
  readonly #maxInFlight: number;
  readonly #leavesAtOnce: boolean;
  readonly #clock: Clock;
  readonly #atIterationEnd: (run: () => void) => void;
  /** Of this iteration: it has not left yet. */
  #open: Promise<T> | undefined;
  /** The call that began last, until it settles. Calls before it that are still in flight have been overtaken. */
  #newest: Promise<T> | undefined;
  #next: Promise<T> | undefined;
  #startNext: ((started: Promise<T>) => void) | undefined;
  #stopTimer: (() => void) | undefined;
  #inFlight = 0;

  constructor(start: () => Promise<T>, options: CoalescedCallOptions = {}) {
    this.#start = start;
    this.#maxInFlight = options.maxInFlight ?? MAX_IN_FLIGHT;
    this.#leavesAtOnce = options.leavesAtOnce ?? false;
    this.#clock = options.clock ?? systemClock;
    this.#atIterationEnd = options.atIterationEnd ?? ((run) => void setImmediate(run));
  }

  // hot: every consistent read
  call(): Promise<T> {
    if (this.#open !== undefined) return this.#open;
    const mayBegin = this.#inFlight < this.#maxInFlight;
    if (mayBegin && this.#newest === undefined) return this.#begin();
    if (mayBegin) this.#stopTimer ??= this.#clock.after(OVERTAKE_MS, this.#release);
    this.#next ??= new Promise((resolve) => (this.#startNext = resolve));
    return this.#next;
  }

  #begin(): Promise<T> {
    const started = this.#start();
    this.#newest = started;
    this.#inFlight++;
    if (!this.#leavesAtOnce) {
      this.#open = started;
      this.#atIterationEnd(() => {
        if (this.#open === started) this.#open = undefined;
      });
    }
    const settled = (): void => {
      this.#inFlight--;
      if (this.#newest === started) this.#newest = undefined;
      this.#release();
    };
    started.then(settled, settled);
    return started;
  }

  /** Begins the call that callers wait for, if any do. */
  readonly #release = (): void => {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const startNext = this.#startNext;
    this.#startNext = undefined;
    this.#next = undefined;
    startNext?.(this.#open ?? this.#begin());
  };
}
