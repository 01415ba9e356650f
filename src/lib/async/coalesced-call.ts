export interface CoalescedCallOptions {
  readonly maxInFlight?: number;
  /** What it sends does not wait for the end of the iteration: whoever comes later shares the next call. */
  readonly leavesAtOnce?: boolean;
  readonly atIterationEnd?: (run: () => void) => void;
}

const MAX_IN_FLIGHT = 4;

/**
 * A call whose answer must be no older than the request for it. Callers within one iteration of the event loop share one
 * call where what it sends leaves at the end of the iteration. Where many are in flight already, callers share the next one.
 */
export class CoalescedCall<T> {
  readonly #start: () => Promise<T>;
  readonly #maxInFlight: number;
  readonly #leavesAtOnce: boolean;
  readonly #atIterationEnd: (run: () => void) => void;
  /** Of this iteration: it has not left yet. */
  #open: Promise<T> | undefined;
  #next: Promise<T> | undefined;
  #startNext: ((started: Promise<T>) => void) | undefined;
  #inFlight = 0;

  constructor(start: () => Promise<T>, options: CoalescedCallOptions = {}) {
    this.#start = start;
    this.#maxInFlight = options.maxInFlight ?? MAX_IN_FLIGHT;
    this.#leavesAtOnce = options.leavesAtOnce ?? false;
    this.#atIterationEnd = options.atIterationEnd ?? ((run) => void setImmediate(run));
  }

  // hot: every consistent read
  call(): Promise<T> {
    if (this.#open !== undefined) return this.#open;
    if (this.#inFlight < this.#maxInFlight) return this.#begin();
    this.#next ??= new Promise((resolve) => (this.#startNext = resolve));
    return this.#next;
  }

  #begin(): Promise<T> {
    const started = this.#start();
    this.#inFlight++;
    if (!this.#leavesAtOnce) {
      this.#open = started;
      this.#atIterationEnd(() => {
        if (this.#open === started) this.#open = undefined;
      });
    }
    started.then(this.#settled, this.#settled);
    return started;
  }

  readonly #settled = (): void => {
    this.#inFlight--;
    const startNext = this.#startNext;
    this.#startNext = undefined;
    this.#next = undefined;
    startNext?.(this.#open ?? this.#begin());
  };
}
