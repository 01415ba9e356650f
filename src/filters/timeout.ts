// `--request-timeout` and `?timeout=`: how long a request that is not long-running may take.
import { Deadlines } from '../lib/deadlines.js';
import { type HttpResponse, isStream } from '../lib/http.js';
import { badRequest, timeout } from '../machinery/status.js';
import { parseDurationMs, TimeError } from '../machinery/time.js';
import type { Exchange, Filter, Refuse } from './exchange.js';
import { LEVEL_HEADER, SCHEMA_HEADER } from './priority-and-fairness.js';

/** Sets the time by which the request must be answered. */
export function requestDeadline(maximumMs: number, refuse: Refuse): Filter {
  return (exchange, next) => {
    if (exchange.longRunning) return next(exchange);
    let allowedMs = maximumMs;
    if (exchange.request.search !== '') {
      try {
        const askedMs = askedTimeoutMs(exchange);
        if (askedMs > 0 && askedMs < maximumMs) allowedMs = askedMs;
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

function askedTimeoutMs(exchange: Exchange): number {
  const value = exchange.request.query.get('timeout');
  return value === null || value === '' ? 0 : parseDurationMs(value);
}

/** Answers in the handler's place when the time is over; an answer that has begun is cut instead. */
export function enforceDeadline(onTimeout: (exchange: Exchange) => void): Filter {
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
      const deadline = deadlines.set(receivedMs, deadlineMs - receivedMs, () => {
        resolve(timedOut(exchange, onTimeout));
      });
      answer.then(
        (response) => {
          deadlines.clear(deadline);
          resolve(isStream(response.body) ? cutAtDeadline(exchange, response) : response);
        },
        (error: unknown) => {
          deadlines.clear(deadline);
          reject(error);
        },
      );
    });
  };
}

const SHORTEST_MS = 1;

function timedOut(exchange: Exchange, onTimeout: (exchange: Exchange) => void): HttpResponse {
  const error = timeout('request did not complete within the allotted timeout');
  onTimeout(exchange);
  exchange.request.cancel?.(error);
  // What was found out of it on the way is not told either.
  for (const name of [SCHEMA_HEADER, LEVEL_HEADER]) delete exchange.responseHeaders[name];
  // Nobody asked how it should look: it does not say what it is, and goes out as text.
  const said = { ...error.status, kind: undefined, apiVersion: undefined };
  const headers = { 'content-type': 'text/plain; charset=utf-8' };
  return { status: 504, headers, body: `${JSON.stringify(said)}\n` };
}

/** An answer that is not taken in time is cut. */
export function cutAtDeadline(exchange: Exchange, response: HttpResponse): HttpResponse {
  const { deadlineMs, request } = exchange;
  if (deadlineMs === undefined) return response;
  const timer = setTimeout(() => request.cancel?.(timeout('request did not complete')), deadlineMs - Date.now());
  exchange.onFinish(() => clearTimeout(timer));
  return response;
}
