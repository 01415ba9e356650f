// Work that several may wait for: it goes on for as long as somebody does.
import type { Cancellation } from '../../lib/async/cancellation.js';
import { whenAborted } from '../../lib/async/when-aborted.js';

export class SharedWork<T> {
  /** Settles with the work, for all of them. */
  readonly done: Promise<T>;
  readonly #ending = new AbortController();
  #waiting = 0;

  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.done = work(this.#ending.signal);
  }

  /** Nobody waits for it any more: whoever comes now begins anew. */
  get abandoned(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Whoever does not say for how long waits to the end. */
  join(waiting: Cancellation | undefined): Promise<T> {
    this.#waiting++;
    if (waiting === undefined) return this.done;
    const { signal } = waiting;
    const stay = whenAborted(signal, () => {
      if (--this.#waiting === 0) this.#ending.abort(signal.reason);
    });
    this.done.then(stay, stay);
    return this.done;
  }
}
