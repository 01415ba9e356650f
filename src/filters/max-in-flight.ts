// `--max-requests-inflight` and `--max-mutating-requests-inflight`: a plain cap, when API Priority and Fairness is off.
import type { HttpResponse } from '../lib/http/http.js';
import { MASTERS_GROUP } from '../machinery/user.js';
import type { Exchange, Filter } from './exchange.js';
import { plainError } from './plain-response.js';

const READ_ONLY_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

export interface MaxInFlightOptions {
  /** 0 removes the cap. */
  readonly readOnlyLimit: number;
  readonly mutatingLimit: number;
  /** The requests now running in a class, after each change. */
  readonly observe: (kind: 'readOnly' | 'mutating', running: number) => void;
  readonly onRejected: (exchange: Exchange) => void;
}

export function maxInFlight({
  readOnlyLimit,
  mutatingLimit,
  observe,
  onRejected,
}: MaxInFlightOptions): Filter | undefined {
  if (readOnlyLimit === 0 && mutatingLimit === 0) return undefined;
  const running = { readOnly: 0, mutating: 0 };
  return (exchange, next) => {
    if (exchange.longRunning) return next(exchange);
    const kind = READ_ONLY_VERBS.has(exchange.info.verb) ? 'readOnly' : 'mutating';
    const limit = kind === 'readOnly' ? readOnlyLimit : mutatingLimit;
    if (limit === 0) return next(exchange);
    if (running[kind] >= limit) {
      // The cluster's administrators must be able to repair an overloaded server.
      if (exchange.user?.groups.includes(MASTERS_GROUP)) return next(exchange);
      onRejected(exchange);
      return tooManyRequests();
    }
    observe(kind, ++running[kind]);
    exchange.onFinish(() => observe(kind, --running[kind]));
    return next(exchange);
  };
}

export const tooManyRequests = (retryAfterSeconds = 1): HttpResponse =>
  plainError(429, 'Too many requests, please try again later.', { 'retry-after': String(retryAfterSeconds) });
