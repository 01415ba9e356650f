// Where the time of a read goes, for its audit events. Nobody looks at a clock where nothing is recorded.
import type { HttpResponse } from '../lib/http.js';
import { type MaybePromise, whenReady } from '../lib/maybe-promise.js';
import type { Negotiated } from './negotiate.js';
import type { RestRequest } from './request.js';

export type TimedRequest = Pick<RestRequest, 'trail' | 'spent'>;

/** A read that has to ask the store. */
export function timedRead<T>(request: TimedRequest, read: () => Promise<T>): Promise<T> {
  if (request.trail === undefined) return read();
  const startedMs = performance.now();
  return read().finally(() => request.spent?.('etcd', performance.now() - startedMs));
}

/** An answer whose bytes are not at hand: it is printed, and before that mostly turned into something else. */
export function timedAnswer(
  request: TimedRequest,
  { media, transform }: Negotiated,
  respond: () => MaybePromise<HttpResponse>,
): MaybePromise<HttpResponse> {
  if (request.trail === undefined || (transform === undefined && media.encoding === 'json')) return respond();
  const startedMs = performance.now();
  const layer = transform === undefined ? 'serialize-response-object' : 'transform-response-object';
  return whenReady(respond(), (answer) => {
    request.spent?.(layer, performance.now() - startedMs);
    return answer;
  });
}
