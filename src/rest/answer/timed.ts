// Where the time of a request goes, for its audit events. Nobody looks at a clock where nothing is recorded.
import type { HttpResponse } from '../../lib/http/http.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import type { Negotiated } from '../wire/negotiate.js';
import type { RestRequest } from '../contract/request.js';
import { type Rendering, respondObject } from './respond.js';
import type { StoredObject } from '../../storage/store.js';

export type TimedRequest = Pick<RestRequest, 'trail' | 'spent'>;

/** A read that has to go to the store. */
export function timedRead<T>(request: TimedRequest, read: () => Promise<T>): Promise<T> {
  if (request.trail === undefined) return read();
  const startedMs = performance.now();
  return read().finally(() => request.spent?.('etcd', performance.now() - startedMs));
}

// hot: every get.
/** An object that was requested, or written. */
export function respondTimed(
  request: TimedRequest,
  rendering: Rendering,
  status: number,
  stored: StoredObject,
): MaybePromise<HttpResponse> {
  return isTimed(request, rendering.negotiated)
    ? timedAnswer(request, rendering.negotiated, () => respondObject(rendering, status, stored))
    : respondObject(rendering, status, stored);
}

/** A request whose bytes are not at hand: they are encoded, and mostly converted before that. */
const isTimed = ({ trail }: TimedRequest, { media, transform }: Negotiated): boolean =>
  trail !== undefined && (transform !== undefined || media.encoding !== 'json');

export function timedAnswer(
  request: TimedRequest,
  negotiated: Negotiated,
  respond: () => MaybePromise<HttpResponse>,
): MaybePromise<HttpResponse> {
  if (!isTimed(request, negotiated)) return respond();
  const startedMs = performance.now();
  const layer = negotiated.transform === undefined ? 'serialize-response-object' : 'transform-response-object';
  return whenReady(respond(), (answer) => {
    request.spent?.(layer, performance.now() - startedMs);
    return answer;
  });
}
