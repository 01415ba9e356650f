// Leases for time-to-live. Keys that expire at about the same time share a lease, since leases are expensive for etcd.
import type { Clock } from '../../lib/async/clock.js';

/** A lease lives this much longer than the requested time-to-live, so that later keys can share it. */
const REUSE_FRACTION = 0.05;
const MAX_KEYS = 1000;

export class Leases {
  readonly #grant: (ttlSeconds: number) => Promise<bigint>;
  readonly #reuseSeconds: number;
  readonly #clock: Clock;
  #lease: Promise<bigint> | undefined;
  #expiresAtMs = 0;
  #keys = 0;

  constructor(options: { grant: (ttlSeconds: number) => Promise<bigint>; reuseSeconds: number; clock: Clock }) {
    this.#grant = options.grant;
    this.#reuseSeconds = options.reuseSeconds;
    this.#clock = options.clock;
  }

  async get(ttlSeconds: number): Promise<bigint> {
    const extraSeconds = Math.min(Math.trunc(ttlSeconds * REUSE_FRACTION), this.#reuseSeconds);
    const now = this.#clock.now();
    const livesLongEnough = now + ttlSeconds * 1000 < this.#expiresAtMs;
    const notTooLong = now + (ttlSeconds + extraSeconds) * 1000 > this.#expiresAtMs;
    this.#keys++;
    if (this.#lease !== undefined && livesLongEnough && notTooLong && this.#keys <= MAX_KEYS) return this.#lease;
    const lease = this.#grant(ttlSeconds + extraSeconds);
    this.#lease = lease;
    this.#expiresAtMs = now + (ttlSeconds + extraSeconds) * 1000;
    this.#keys = 1;
    try {
      return await lease;
    } catch (error) {
      if (this.#lease === lease) this.#lease = undefined;
      throw error;
    }
  }

  /** etcd no longer has it. */
  forget(): void {
    this.#lease = undefined;
  }
}
