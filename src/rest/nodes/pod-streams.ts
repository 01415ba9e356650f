// Commands in containers, attaching to them and their ports: the client and the kubelet leave HTTP together.
import { encodeQuery } from '../../lib/go/url-parts.js';
import { type HttpResponse, isWebSocketRequest } from '../../lib/http/http.js';
import { badRequest, StatusError } from '../../machinery/status.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { forwardUpgrade } from '../../outbound/proxy/forward-upgrade.js';
import { upgradeHeaders } from '../../outbound/proxy/headers.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { portsOf } from './connect-options.js';
import { flag } from '../contract/query-options.js';
import type { RestRequest } from '../contract/request.js';
import type { RestServices } from '../contract/services.js';
import { offeredProtocols } from '../contract/web-socket.js';
import { locateKubelet } from './kubelet-location.js';
import { containerOf } from './containers.js';
import { STREAM_PROTOCOL, translateStreams, type WantedStreams } from './translate-streams.js';
import { tunnelledProtocols, tunnelPorts } from './tunnel-ports.js';

export type StreamSubresource = 'exec' | 'attach' | 'portforward';

const PODS = { group: '', resource: 'pods' };

export async function podStream(
  services: RestServices,
  request: RestRequest,
  subresource: StreamSubresource,
  findPod: () => Promise<Pod>,
): Promise<HttpResponse> {
  const { http, info } = request;
  const pod = await findPod();
  const container = subresource === 'portforward' ? '' : `/${containerOf(pod, http.query.get('container') ?? '')}`;
  if (!pod.spec?.nodeName) throw badRequest(`pod ${info.name} does not have a host assigned`);
  const { url: origin, host } = await locateKubelet(services.nodes, services.lookup, pod.spec.nodeName, PODS);
  const query = subresource === 'portforward' ? portQuery(http.query) : streamQuery(http.query, subresource);
  const path = `/${KUBELET_PATHS[subresource]}/${info.namespace}/${info.name}${container}`;
  const target = query === '' ? path : `${path}?${query}`;
  if (http.upgrade === undefined) throw badRequest('Upgrade request required');
  const destination = { client: services.nodes.kubelets, origin, target, headers: streamHeaders(request) };
  const offered = isWebSocketRequest(http) ? offeredProtocols(request) : '';
  if (subresource !== 'portforward' && services.features.enabled('TranslateStreamCloseWebsocketRequests')) {
    if (offered.split(',').some((one) => one.trim() === STREAM_PROTOCOL)) {
      return translateStreams(request, { ...destination, host, wanted: wantedStreams(http.query) });
    }
  }
  try {
    if (subresource === 'portforward' && services.features.enabled('PortForwardWebsockets')) {
      const protocols = tunnelledProtocols(offered);
      if (protocols.length > 0) return await tunnelPorts(request, destination, protocols);
    }
    return await forwardUpgrade(http, destination);
  } catch (error) {
    throw new StatusError(500, '', OutboundError.from(error).message);
  }
}

const KUBELET_PATHS: Readonly<Record<StreamSubresource, string>> = {
  exec: 'exec',
  attach: 'attach',
  portforward: 'portForward',
};

/** A token among the protocols is for this server alone. */
export function streamHeaders({ http, websocketProtocols }: RestRequest): ReturnType<typeof upgradeHeaders> {
  const headers = upgradeHeaders(http);
  if (websocketProtocols !== undefined) headers['sec-websocket-protocol'] = websocketProtocols;
  return headers;
}

const wantedStreams = (query: URLSearchParams): WantedStreams => ({
  stdin: flag(query, 'stdin') === true,
  stdout: flag(query, 'stdout') === true,
  stderr: flag(query, 'stderr') === true,
  tty: flag(query, 'tty') === true,
});

const STREAM_NAMES = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const;

function streamQuery(query: URLSearchParams, subresource: StreamSubresource): string {
  const parameters: [string, string][] = [];
  for (const [name, kubeletName] of Object.entries(STREAM_NAMES)) {
    if (flag(query, name) === true) parameters.push([kubeletName, '1']);
  }
  if (subresource === 'exec') for (const word of query.getAll('command')) parameters.push(['command', word]);
  return encodeQuery(parameters);
}

function portQuery(query: URLSearchParams): string {
  const ports = portsOf(query);
  return ports.length === 0 ? '' : encodeQuery([['port', ports.join(',')]]);
}
