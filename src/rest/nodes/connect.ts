// Subresources that connect a client with what runs on a node: log, exec, attach, portforward and the proxies.
import type { Level } from '../../audit/levels.js';
import type { HttpResponse } from '../../lib/http/http.js';
import { apiVersionOf } from '../../machinery/object.js';
import { badRequest } from '../../machinery/status.js';
import { get } from '../../registry/list.js';
import { loaded } from '../../storage/store.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { connectOptions } from './connect-options.js';
import type { Endpoint } from '../contract/endpoint.js';
import { podLog } from './pod-log.js';
import { podStream, type StreamSubresource } from './pod-streams.js';
import { nodeOrigin, podOrigin, type ProxiedOrigin, serviceOrigin } from './proxied-origin.js';
import { proxy } from './proxy.js';
import type { RestRequest } from '../contract/request.js';
import { lifeContext, type RestServices } from '../contract/services.js';

export async function connect(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  connector: string,
): Promise<HttpResponse> {
  const { info, http } = request;
  const way = connector.slice(connector.indexOf('/') + 1);
  const findPod = async (): Promise<Pod> =>
    (await loaded(
      await get(endpoint.registry, { namespace: info.namespace, name: info.name, trace: request.trace }),
    )) as unknown as Pod;
  // A log is read: no plugin reviews it, and a dry run means nothing.
  if (way === 'log') return podLog(services, request, findPod);
  if (http.query.has('dryRun')) throw badRequest('dryRun is not supported');
  await admitConnect(services, endpoint, request);
  if (way !== 'proxy') return podStream(services, request, way as StreamSubresource, findPod);
  return proxy(request, await originOf(services, endpoint, request));
}

function originOf(services: RestServices, { kind }: Endpoint, { info }: RestRequest): Promise<ProxiedOrigin> {
  switch (kind.kind) {
    case 'Pod':
      return podOrigin(services, info.namespace, info.name);
    case 'Service':
      return serviceOrigin(services, info.namespace, info.name);
    default:
      return nodeOrigin(services, info.name);
  }
}

async function admitConnect(services: RestServices, endpoint: Endpoint, request: RestRequest): Promise<void> {
  const { info, http } = request;
  const { group, version } = endpoint.kind;
  const kind = endpoint.definition.subresources?.[info.subresource]?.kind ?? endpoint.kind.kind;
  const attributes = {
    operation: 'CONNECT' as const,
    kind: { group, version, kind },
    resource: endpoint.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    connectOptions: connectOptions(kind, apiVersionOf(endpoint.kind), http.query, info),
    context: lifeContext(services, request, info.namespace, false),
    operations: services.ownOperations,
    annotate: (key: string, value: string, level?: Level) => request.annotate(key, value, level),
  };
  await services.admission.admit(attributes);
  await services.admission.validate(attributes);
}
