import type { HttpResponse } from '../../lib/http/http.js';
import { unsignedOf } from '../../lib/values/int64.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { badRequest, StatusError } from '../../machinery/status.js';
import { get } from '../../registry/list.js';
import { keyOf } from '../../registry/registry.js';
import type { Endpoint } from '../contract/endpoint.js';
import { negotiate, objectPath } from '../wire/negotiate.js';
import { flag } from '../contract/query-options.js';
import type { RestRequest } from '../contract/request.js';
import { respondTimed, timedRead } from '../answer/timed.js';
import type { RestServices } from '../contract/services.js';
import { recordCachedGet, recordKnownRead } from '../../storage/record.js';
import type { StoredObject } from '../../storage/store.js';

// hot: most requests are this one.
/** Without a promise when the object is in the cache. */
export function getObject(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
): MaybePromise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes, objectPath(endpoint.definition, info.subresource));
  let resourceVersion = '';
  if (http.search !== '') {
    if (flag(http.query, 'export')) {
      throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
    }
    resourceVersion = http.query.get('resourceVersion') ?? '';
  }
  const { registry } = endpoint;
  const rendering = { endpoint, request: http, negotiated, clock: services.clock, converter: services.converter };
  const respond = (stored: StoredObject): MaybePromise<HttpResponse> => respondTimed(request, rendering, 200, stored);
  const span = request.trace?.span;
  span?.event('About to Get from storage');
  const key = keyOf(registry, info.namespace, info.name);
  try {
    checkGetVersion(endpoint, resourceVersion);
  } catch (error) {
    recordCachedGet(span, registry.store.options, key, resourceVersion)?.end();
    throw error;
  }
  const atHand = resourceVersion === '' ? registry.store.local?.getCached(key) : undefined;
  if (atHand !== undefined) {
    recordKnownRead(span, registry.store.options, key);
    span?.event(WRITING);
    return respond(atHand);
  }
  const { namespace, name } = info;
  const read = (): Promise<StoredObject> => get(registry, { namespace, name, resourceVersion, trace: request.trace });
  return timedRead(request, read).then((stored) => {
    span?.event(WRITING);
    return respond(stored);
  });
}

const WRITING = 'About to write a response';

/** What expires has no cache in kube-apiserver: its store is read, where such a version is the client's mistake. */
function checkGetVersion({ definition }: Endpoint, resourceVersion: string): void {
  if (definition.storage?.ttlSeconds === undefined) return checkResourceVersion(resourceVersion);
  const wrong = resourceVersionError(resourceVersion);
  if (wrong !== undefined) throw badRequest(`invalid resource version: ${wrong}`);
}

/** In digits: a shorter number always fits into 64 bits. */
const MAX_VERSION_LENGTH = 20;

export function resourceVersionError(resourceVersion: string): string | undefined {
  if (resourceVersion === '') return undefined;
  const isNumber = /^\d+$/.test(resourceVersion);
  if (isNumber && resourceVersion.length < MAX_VERSION_LENGTH) return undefined;
  if (isNumber && unsignedOf(resourceVersion) !== undefined) return undefined;
  const quoted = JSON.stringify(resourceVersion);
  const why = isNumber ? 'value out of range' : 'invalid syntax';
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`;
}

/** A version that is no number fails a get and a watch as an error of the server, as it does in kube-apiserver. */
export function checkResourceVersion(resourceVersion: string): void {
  const error = resourceVersionError(resourceVersion);
  if (error !== undefined) throw new StatusError(500, '', error);
}
