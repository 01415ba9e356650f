// The leases that an owner gave before it died. Its successor serves nothing before they are over: a replica that hangs may wake up
// and answer reads by such a lease, of a state from before.
import type { Clock } from '../../lib/async/clock.js';
import { LEASE_MS } from './lease.js';

export class EarlierLeases {
  readonly over: Promise<void>;
  readonly #holders: Set<number>;
  #end: () => void = () => undefined;

  /** `clock` counts from the start of this process, which is after the end of the one before. */
  constructor(holders: readonly number[], clock: Clock) {
    this.#holders = new Set(holders);
    this.over = new Promise((resolve) => (this.#end = resolve));
    if (this.#holders.size === 0) this.#end();
    else clock.after(Math.max(0, LEASE_MS - clock.now()), this.#end);
  }

  /** A process that says hello here has given up what it had. */
  gaveUp(pid: number): void {
    this.#holders.delete(pid);
    if (this.#holders.size === 0) this.#end();
  }
}
