import type { HttpResponse } from '../lib/http.js';
import { badRequest, StatusError } from '../machinery/status.js';
import { get } from '../registry/list.js';
import type { Endpoint } from './endpoint.js';
import { negotiate } from './negotiate.js';
import { flag } from './query-options.js';
import type { RestRequest } from './request.js';
import { respondObject } from './respond.js';
import type { RestServices } from './services.js';

// hot: most requests are this one.
export async function getObject(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
): Promise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes);
  let resourceVersion = '';
  if (http.search !== '') {
    if (flag(http.query, 'export')) {
      throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
    }
    resourceVersion = http.query.get('resourceVersion') ?? '';
    checkResourceVersion(resourceVersion);
  }
  const stored = await get(endpoint.registry, info.namespace, info.name, resourceVersion);
  return respondObject({ endpoint, request: http, negotiated, now: services.clock() }, 200, stored);
}

export function resourceVersionError(resourceVersion: string): string | undefined {
  if (resourceVersion === '' || /^\d+$/.test(resourceVersion)) return undefined;
  const quoted = JSON.stringify(resourceVersion);
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`;
}

/** A version that is no number fails a get and a watch as an error of the server, as it does in the reference. */
export function checkResourceVersion(resourceVersion: string): void {
  const error = resourceVersionError(resourceVersion);
  if (error !== undefined) throw new StatusError(500, '', error);
}
