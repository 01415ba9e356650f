// A worker process's share of limits that are counted over all workers. A request within the share needs nobody else. One that
// finds no seat asks the supervisor, which collects what the others do not need (seat-rounds.ts).
import { type Clock, monotonicClock } from '../lib/async/clock.js';
import { CoalescedCall } from '../lib/async/coalesced-call.js';
import type { Channel } from './channel.js';
import type { OpenSeatPool, SeatHolder, SeatPool } from './seat-pool.js';

/** How a worker stands with a limit. */
export interface SeatReport {
  readonly total: number;
  readonly share: number;
  readonly inUse: number;
  readonly wanted: number;
}

export interface ShareChange {
  readonly name: string;
  readonly share: number;
}

export const SEAT_TOPICS = {
  /** Worker to supervisor, a name: the worker wants more. Answered when the round is over. */
  request: 'seats-request',
  /** Supervisor to worker, a name: answered with a `SeatReport`; undefined where the worker does not know the limit. */
  report: 'seats-report',
  /** Supervisor to worker, a `ShareChange`: answered with the seats that the worker has now: those in use stay. */
  share: 'seats-share',
} as const;

/** Where all seats are in use, they are requested again after this time, and refused until then. */
const RETRY_MS = 25;

export interface SharedSeats {
  readonly open: OpenSeatPool;
  /** The supervisor counts this worker among those that serve from now on: it gets a share before the first request comes. */
  requestFirst(): void;
}

export function sharedSeats(channel: Channel, clock: Clock = monotonicClock): SharedSeats {
  const pools = new Map<string, SharedPool>();
  channel.handle(SEAT_TOPICS.report, (name) => pools.get(name as string)?.report());
  channel.handle(SEAT_TOPICS.share, (content) => {
    const { name, share } = content as ShareChange;
    return pools.get(name)?.setShare(share) ?? 0;
  });
  const open: OpenSeatPool = (name, holder) => {
    const ask = (): Promise<unknown> => channel.ask(SEAT_TOPICS.request, name);
    const close = (): void => {
      if (pools.get(name) === pool) pools.delete(name);
    };
    const pool: SharedPool = new SharedPool({ holder, ask, clock, close });
    pools.set(name, pool);
    return pool;
  };
  return {
    open,
    requestFirst() {
      for (const pool of pools.values()) pool.requestFirst();
    },
  };
}

interface SharedPoolParts {
  readonly holder: SeatHolder;
  readonly ask: () => Promise<unknown>;
  readonly clock: Clock;
  readonly close: () => void;
}

class SharedPool implements SeatPool {
  share = 0;
  #total = 0;
  #noneBeforeMs = 0;
  /** Of requests that are refused unless other processes can do with less. */
  #requestedSeats = 0;
  /** What the last round was to satisfy. */
  #reportedWanted = 0;
  #cancelRetry: (() => void) | undefined;
  readonly #request: CoalescedCall<void>;

  constructor(private readonly parts: SharedPoolParts) {
    this.#request = new CoalescedCall(() => this.#ask());
  }

  setTotal(total: number): void {
    const isLess = total < this.#total;
    this.#total = total;
    // Nothing more than that begins here; the others may have shares besides.
    if (this.share > total) this.share = total;
    if (isLess || this.#wanted > this.share) void this.#request.call();
    else this.requestFirst();
  }

  requestFirst(): void {
    if (this.share === 0 && this.#total > 0) void this.#request.call();
  }

  requestMore(seats = 0): Promise<void> | undefined {
    if (this.share >= this.#total) return undefined;
    if (this.parts.clock.now() < this.#noneBeforeMs) {
      this.#retryLater();
      return undefined;
    }
    this.#requestedSeats += seats;
    return this.#request.call().finally(() => (this.#requestedSeats -= seats));
  }

  report(): SeatReport {
    const wanted = this.#wanted;
    this.#reportedWanted = wanted;
    return { total: this.#total, share: this.share, inUse: this.parts.holder.seatsInUse, wanted };
  }

  setShare(share: number): number {
    this.share = share;
    this.parts.holder.resized();
    if (this.#wanted > share) this.#retryLater();
    return Math.max(share, this.parts.holder.seatsInUse);
  }

  close(): void {
    this.#cancelRetry?.();
    this.parts.close();
  }

  get #wanted(): number {
    return this.parts.holder.seatsWanted + this.#requestedSeats;
  }

  async #ask(): Promise<void> {
    const { ask, clock } = this.parts;
    try {
      await ask();
    } catch {
      // The supervisor is gone: this process ends as well.
    }
    // What is wanted since then is a matter of the next round.
    if (this.#reportedWanted <= this.share || this.share >= this.#total) return;
    this.#noneBeforeMs = clock.now() + RETRY_MS;
    this.#retryLater();
  }

  /** Those that wait in queues get what becomes free elsewhere. */
  #retryLater(): void {
    this.#cancelRetry ??= this.parts.clock.after(RETRY_MS, () => {
      this.#cancelRetry = undefined;
      if (this.#wanted > this.share) void this.requestMore();
    });
  }
}
