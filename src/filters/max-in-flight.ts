// `--max-requests-inflight` and `--max-mutating-requests-inflight`: a plain cap, when API Priority and Fairness is off.
import type { HttpResponse } from '../lib/http/http.js';
import { MASTERS_GROUP } from '../machinery/user.js';
import { type OpenSeatPool, ownSeats, type SeatHolder, type SeatPool } from '../workers/seat-pool.js';
import type { Exchange, Filter } from './exchange.js';
import { isReadOnly } from '../machinery/request-info.js';
import { plainError } from './plain-response.js';

type Kind = 'readOnly' | 'mutating';

export interface MaxInFlightOptions {
  /** 0 removes the cap. */
  readonly readOnlyLimit: number;
  readonly mutatingLimit: number;
  /** Where several processes share the limits. */
  readonly openSeatPool?: OpenSeatPool | undefined;
  /** The requests now running in a class, after each change. */
  readonly observe: (kind: Kind, running: number) => void;
  readonly onRejected: (exchange: Exchange) => void;
}

export function maxInFlight(options: MaxInFlightOptions): Filter | undefined {
  const { readOnlyLimit, mutatingLimit, onRejected } = options;
  if (readOnlyLimit === 0 && mutatingLimit === 0) return undefined;
  const readOnly = readOnlyLimit === 0 ? undefined : new InFlightLimit('readOnly', readOnlyLimit, options);
  const mutating = mutatingLimit === 0 ? undefined : new InFlightLimit('mutating', mutatingLimit, options);
  return (exchange, next) => {
    if (exchange.longRunning) return next(exchange);
    const limit = isReadOnly(exchange.info) ? readOnly : mutating;
    if (limit === undefined || limit.enter(exchange)) return next(exchange);
    const refuse = (): HttpResponse => {
      onRejected(exchange);
      return tooManyRequests();
    };
    // The cluster's administrators must be able to repair an overloaded server.
    if (exchange.user?.groups.includes(MASTERS_GROUP)) return next(exchange);
    return limit.requestSeat()?.then(() => (limit.enter(exchange) ? next(exchange) : refuse())) ?? refuse();
  };
}

class InFlightLimit implements SeatHolder {
  readonly #pool: SeatPool;
  readonly #observe: MaxInFlightOptions['observe'];
  seatsInUse = 0;

  constructor(
    readonly kind: Kind,
    limit: number,
    { openSeatPool = ownSeats, observe }: MaxInFlightOptions,
  ) {
    this.#observe = observe;
    this.#pool = openSeatPool(`in-flight/${kind}`, this);
    this.#pool.setTotal(limit);
  }

  get seatsWanted(): number {
    return this.seatsInUse;
  }

  resized(): void {}

  enter(exchange: Exchange): boolean {
    if (this.seatsInUse >= this.#pool.share) return false;
    this.#observe(this.kind, ++this.seatsInUse);
    exchange.onFinish(() => this.#observe(this.kind, --this.seatsInUse));
    return true;
  }

  /** Undefined where other processes have none to spare. */
  requestSeat(): Promise<void> | undefined {
    return this.#pool.requestMore(1);
  }
}

export const tooManyRequests = (retryAfterSeconds = 1): HttpResponse =>
  plainError(429, 'Too many requests, please try again later.', { 'retry-after': String(retryAfterSeconds) });
