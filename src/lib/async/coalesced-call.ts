/**
 * A call whose answer must be no older than the request for it. Callers that come while it is in flight share the next one, which
 * begins when it settles: the busier the server, the more callers have one call.
 *
 *   caller   a       b c d         e
 *   call     ├─ a ───┤├─── b c d ──┤├─ e ──
 */
export class CoalescedCall<T> {
  readonly #start: () => Promise<T>;
  #isInFlight = false;
  #next: Promise<T> | undefined;
  #startNext: ((started: Promise<T>) => void) | undefined;

  constructor(start: () => Promise<T>) {
    this.#start = start;
  }

  call(): Promise<T> {
    if (!this.#isInFlight) return this.#begin();
    this.#next ??= new Promise((resolve) => (this.#startNext = resolve));
    return this.#next;
  }

  #begin(): Promise<T> {
    this.#isInFlight = true;
    const started = this.#start();
    started.then(this.#settled, this.#settled);
    return started;
  }

  readonly #settled = (): void => {
    this.#isInFlight = false;
    const startNext = this.#startNext;
    this.#startNext = undefined;
    this.#next = undefined;
    startNext?.(this.#begin());
  };
}
