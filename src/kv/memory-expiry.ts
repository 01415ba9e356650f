// Which keys of a store in memory expire, and when. Copies share what is alike, so that a snapshot has the times as it has the
// keys; what counts in it is how long each key had left when it was taken, not the hour.
import type { Clock } from '../lib/async/clock.js';
import { OrderedMap } from '../lib/values/ordered-map.js';

/** How long each key has left at one moment. */
export interface TimesToLive {
  /** Undefined where the key does not expire. */
  leftMs(key: string): number | undefined;
  keys(): Iterable<string>;
}

export const NO_TIMES_TO_LIVE: TimesToLive = { leftMs: () => undefined, keys: () => [] };

export class MemoryExpiry {
  readonly #clock: Clock;
  readonly #onExpired: (key: string) => void;
  readonly #expiresAtMs = new OrderedMap<number>();
  readonly #cancels = new Map<string, () => void>();

  constructor(clock: Clock, onExpired: (key: string) => void) {
    this.#clock = clock;
    this.#onExpired = onExpired;
  }

  /** Without a time the key does not expire, whatever it did before. */
  set(key: string, leftMs: number | undefined): void {
    this.#clear(key);
    if (leftMs === undefined) return;
    this.#expiresAtMs.set(key, this.#clock.now() + leftMs);
    const cancel = this.#clock.after(leftMs, () => {
      this.#clear(key);
      this.#onExpired(key);
    });
    this.#cancels.set(key, cancel);
  }

  timesToLive(): TimesToLive {
    const expiresAtMs = this.#expiresAtMs.clone();
    const nowMs = this.#clock.now();
    return {
      leftMs(key) {
        const atMs = expiresAtMs.get(key);
        return atMs === undefined ? undefined : Math.max(0, atMs - nowMs);
      },
      keys: () => expiresAtMs.keys(),
    };
  }

  /** Nothing expires any more. */
  stop(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }

  #clear(key: string): void {
    const cancel = this.#cancels.get(key);
    if (cancel === undefined) return;
    cancel();
    this.#cancels.delete(key);
    this.#expiresAtMs.delete(key);
  }
}
