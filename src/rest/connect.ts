// Subresources that connect a client with what runs on a node: log, exec, attach, portforward and the proxies.
// Connections to nodes come with a later step; until then every request gets the answer that the API's own state
// gives: what is missing, or that there is no way to the node.
import type { Level } from '../audit/levels.js';
import type { HttpResponse } from '../lib/http.js';
import { apiVersionOf, type KubeObject } from '../machinery/object.js';
import { badRequest, notFound, serviceUnavailable, StatusError } from '../machinery/status.js';
import { get } from '../registry/list.js';
import type { Node, Pod } from '../schema/generated/core.v1.js';
import { connectOptions } from './connect-options.js';
import type { Endpoint } from './endpoint.js';
import { checkLogOptions } from './pod-log-options.js';
import type { RestRequest } from './request.js';
import { lifeContext, type RestServices } from './services.js';

export async function connect(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  connector: string,
): Promise<HttpResponse> {
  const { info, http } = request;
  const way = connector.slice(connector.indexOf('/') + 1);
  // A log is read: no plugin is asked, and a dry run means nothing.
  if (way !== 'log') {
    if (http.query.has('dryRun')) throw badRequest('dryRun is not supported');
    await admitConnect(services, endpoint, request);
  }
  const parent = async (): Promise<Readonly<KubeObject>> =>
    (await get(endpoint.registry, info.namespace, nameOf(info.name), '')).object();
  switch (way) {
    case 'log': {
      checkLogOptions(http.query, info.name, services.features);
      const pod = (await parent()) as unknown as Pod;
      const container = containerOf(pod, http.query.get('container') ?? '');
      if (!pod.spec?.nodeName) return { status: 204, headers: {}, body: undefined };
      throw await noWayTo(services, pod.spec.nodeName, `the log of container ${container}`);
    }
    case 'exec':
    case 'attach':
    case 'portforward': {
      const pod = (await parent()) as unknown as Pod;
      if (way !== 'portforward') containerOf(pod, http.query.get('container') ?? '');
      if (!pod.spec?.nodeName) throw badRequest(`pod ${info.name} does not have a host assigned`);
      throw await noWayTo(services, pod.spec.nodeName, connector);
    }
    default: {
      const object = await parent();
      if (endpoint.kind.kind === 'Pod' && !(object as unknown as Pod).status?.podIPs?.[0]?.ip) {
        throw badRequest('address not allowed');
      }
      if (endpoint.kind.kind === 'Service')
        throw serviceUnavailable(`no endpoints available for service "${info.name}"`);
      if (endpoint.kind.kind === 'Node') throw await noWayTo(services, nameOf(info.name), connector);
      throw serviceUnavailable(`there is no connection to ${endpoint.definition.singular} "${info.name}" from here`);
    }
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
    operations: services.operations,
    annotate: (key: string, value: string, level?: Level) => request.annotate(key, value, level),
  };
  await services.admission.admit(attributes);
  await services.admission.validate(attributes);
}

/** `name`, `name:port` or `scheme:name:port`, as the proxies take it. */
function nameOf(text: string): string {
  const parts = text.split(':');
  return (parts.length === 3 ? parts[1] : parts[0]) ?? '';
}

/** The container that is meant, when it can be told. */
function containerOf(pod: Pod, asked: string): string {
  const name = pod.metadata?.name ?? '';
  const containers = pod.spec?.containers ?? [];
  const initContainers = pod.spec?.initContainers ?? [];
  const ephemeral = pod.spec?.ephemeralContainers ?? [];
  if (asked !== '') {
    const known = [...containers, ...initContainers, ...ephemeral].some((container) => container.name === asked);
    if (!known) throw badRequest(`container ${asked} is not valid for pod ${name}`);
    return asked;
  }
  const [only] = containers;
  if (only === undefined) throw badRequest(`a container name must be specified for pod ${name}`);
  if (containers.length === 1) return only.name;
  const names = [...initContainers, ...containers, ...ephemeral].map((container) => container.name).join(' ');
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names}]`);
}

async function noWayTo(services: RestServices, nodeName: string, what: string): Promise<Error> {
  const node = (await services.lookup.get({ group: '', resource: 'nodes' }, '', nodeName)) as unknown as
    | Node
    | undefined;
  if (node === undefined) return notFound({ group: '', resource: 'nodes' }, nodeName);
  const addresses = node.status?.addresses ?? [];
  if (addresses.length === 0) return new StatusError(500, '', 'no preferred addresses found; known addresses: []');
  return serviceUnavailable(`there is no connection to node "${nodeName}" from here for ${what}`);
}
