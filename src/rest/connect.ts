// Subresources that connect a client with a node or a pod: log, exec, attach, portforward, proxy.
import type { HttpResponse } from '../lib/http.js';
import { badRequest, notFound } from '../machinery/status.js';
import { get } from '../registry/list.js';
import type { Endpoint } from './endpoint.js';
import type { RestRequest } from './request.js';
import type { RestServices } from './services.js';

export async function connect(
  _services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  _connector: string,
): Promise<HttpResponse> {
  const { info, http } = request;
  if (http.query.has('dryRun')) throw badRequest('dryRun is not supported');
  await get(endpoint.registry, info.namespace, info.name, '');
  throw notFound(endpoint.registry.resource, info.name);
}
