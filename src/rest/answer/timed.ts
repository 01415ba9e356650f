// Where the time of a request goes: all of it for its audit events, and what takes long for the log of slow requests.
import type { HttpResponse } from '../../lib/http/http.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import type { Negotiated } from '../wire/negotiate.js';
import type { LatencyLayer } from '../../machinery/request-latency.js';
import type { RestRequest } from '../contract/request.js';
import { type Rendering, respondObject } from './respond.js';
import type { StoredObject } from '../../storage/store.js';

/** Without an audit, what takes less is not recorded: it makes no request slow. */
const LONG_MS = 10;

export type TimedRequest = Pick<RestRequest, 'trail' | 'spent'>;

/** A read that has to go to the store. */
export async function timedRead<T>(request: TimedRequest, read: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await read();
  } finally {
    record(request, 'etcd', startedMs);
  }
}

// hot: every get.
/** An object that was requested, or written. */
export function respondTimed(
  request: TimedRequest,
  rendering: Rendering,
  status: number,
  stored: StoredObject,
): MaybePromise<HttpResponse> {
  return isTimed(rendering.negotiated)
    ? timedAnswer(request, rendering.negotiated, () => respondObject(rendering, status, stored))
    : respondObject(rendering, status, stored);
}

/** A request whose bytes are not at hand: they are encoded, and mostly converted before that. */
const isTimed = ({ media, transform }: Negotiated): boolean => transform !== undefined || media.encoding !== 'json';

export function timedAnswer(
  request: TimedRequest,
  negotiated: Negotiated,
  respond: () => MaybePromise<HttpResponse>,
): MaybePromise<HttpResponse> {
  if (!isTimed(negotiated)) return respond();
  const startedMs = performance.now();
  const layer = negotiated.transform === undefined ? 'serialize-response-object' : 'transform-response-object';
  return whenReady(respond(), (answer) => {
    record(request, layer, startedMs);
    return answer;
  });
}

function record(request: TimedRequest, layer: LatencyLayer, startedMs: number): void {
  const tookMs = performance.now() - startedMs;
  if (request.trail !== undefined || tookMs >= LONG_MS) request.spent?.(layer, tookMs);
}
