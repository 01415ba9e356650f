// `--request-timeout` and `?timeout=`: how long a request that is not long-running may take.
import { Deadlines } from '../lib/async/deadlines.js';
import { type HttpResponse, isStream } from '../lib/http/http.js';
import { badRequest, timeout } from '../machinery/status.js';
import { parseDurationMs, TimeError } from '../machinery/time.js';
import { OutboundError } from '../outbound/outbound-error.js';
import type { Exchange, Filter, Refuse } from './exchange.js';
import { LEVEL_HEADER, SCHEMA_HEADER } from './priority-and-fairness.js';

/** Sets the time by which the request must be answered. */
export function requestDeadline(maximumMs: number, refuse: Refuse): Filter {
  return (exchange, next) => {
    if (exchange.longRunning) return next(exchange);
    let allowedMs = maximumMs;
    if (exchange.request.search !== '') {
      try {
        const requestedMs = requestedTimeoutMs(exchange);
        if (requestedMs > 0 && requestedMs < maximumMs) allowedMs = requestedMs;
      } catch (error) {
        if (!(error instanceof TimeError)) throw error;
        const why = `invalid timeout specified in the request URL - ${error.message}`;
        return refuse(badRequest(why), exchange);
      }
    }
    exchange.deadlineMs = exchange.receivedMs + allowedMs;
    return next(exchange);
  };
}

function requestedTimeoutMs(exchange: Exchange): number {
  const value = exchange.request.query.get('timeout');
  return value === null || value === '' ? 0 : parseDurationMs(value);
}

/** Observes a request that ends before its work does; `late` is the result of the work, where it was begun. */
export type OnTimeout = (exchange: Exchange, late?: Promise<HttpResponse>) => void;

/**
 * Answers in the handler's place when the time is over, or the client gone; an answer that has begun is cut instead.
 */
export function enforceDeadline(onTimeout: OnTimeout): Filter {
  const deadlines = new Deadlines();
  return (exchange, next) => {
    const { deadlineMs, receivedMs } = exchange;
    if (deadlineMs === undefined) return next(exchange);
    // Nothing is done in a time that nothing can be done in, not even what would be answered at once.
    if (deadlineMs - receivedMs < SHORTEST_MS) return timedOut(exchange, onTimeout);
    const answer = next(exchange);
    // An answer that is there already needs no clock, unless it is produced piece by piece.
    if (!(answer instanceof Promise)) return isStream(answer.body) ? cutAtDeadline(exchange, answer) : answer;
    return new Promise((resolve, reject) => {
      let stay: (() => void) | undefined = undefined;
      const settle = (): void => {
        stay?.();
        deadlines.clear(deadline);
      };
      const end = (): void => {
        settle();
        resolve(timedOut(exchange, onTimeout, answer));
      };
      const deadline = deadlines.set(receivedMs, deadlineMs - receivedMs, end);
      stay = exchange.request.whenStopped?.(end);
      answer.then(
        (response) => {
          settle();
          resolve(isStream(response.body) ? cutAtDeadline(exchange, response) : response);
        },
        (error: unknown) => {
          settle();
          reject(error);
        },
      );
    });
  };
}

const SHORTEST_MS = 1;

function timedOut(exchange: Exchange, onTimeout: OnTimeout, late?: Promise<HttpResponse>): HttpResponse {
  const error = timeout('request did not complete within the allotted timeout');
  exchange.isLate = true;
  onTimeout(exchange, late);
  exchange.request.cancel?.(OutboundError.deadlineExceeded());
  // The headers of flow control are dropped, as kube-apiserver drops them.
  for (const name of [SCHEMA_HEADER, LEVEL_HEADER]) delete exchange.responseHeaders[name];
  // The answer is not negotiated: the Status has no kind and no version, and is sent as text.
  const said = { ...error.status, kind: undefined, apiVersion: undefined };
  const headers = { 'content-type': 'text/plain; charset=utf-8' };
  return { status: 504, headers, body: `${JSON.stringify(said)}\n` };
}

/** An answer that the client does not read in time is cut. */
export function cutAtDeadline(exchange: Exchange, response: HttpResponse): HttpResponse {
  const { deadlineMs, request } = exchange;
  if (deadlineMs === undefined) return response;
  const timer = setTimeout(() => request.cancel?.(OutboundError.deadlineExceeded()), deadlineMs - Date.now());
  exchange.onFinish(() => clearTimeout(timer));
  return response;
}
