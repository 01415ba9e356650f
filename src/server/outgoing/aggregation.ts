// Extension API servers, wired: which API services there are, how their servers are reached, and what is handed on.
import { API_SERVICES, ApiServices } from '../../aggregation/api-services.js';
import { type ProxiedRequest, proxyToExtension } from '../../aggregation/proxy.js';
import { RemoteDiscovery } from '../../aggregation/remote-discovery.js';
import { RemoteOpenApi } from '../../aggregation/remote-openapi.js';
import { RemoteServers } from '../../aggregation/remote-servers.js';
import { systemClock } from '../../lib/async/clock.js';
import type { HttpResponse } from '../../lib/http/http.js';
import type { ReloadRequests } from '../../lib/files/reload-requests.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { certificateNotes } from '../../machinery/certificate-notes.js';
import type { Options } from '../../options/options.js';
import { resolveByClusterIp, resolveByEndpoints } from '../../registry/service-address.js';
import type { Dialers } from './dialers.js';
import { followProxyClientCertificate } from './proxy-client-certificate.js';
import type { Resources } from '../kinds/resources.js';

export interface AggregationParts {
  readonly resources: Resources;
  readonly dialers: Dialers;
  readonly metrics: MetricRegistry;
  readonly stopping: AbortSignal;
  readonly reloads: ReloadRequests;
  readonly log: Logger;
}

export interface WiredAggregation {
  readonly services: ApiServices;
  readonly servers: RemoteServers;
  readonly remote: RemoteDiscovery;
  readonly openApi: RemoteOpenApi;
  /** Undefined: the request is for this server itself. `isOwn` is true of its OpenAPI 3 documents. */
  proxy(proxied: ProxiedRequest, isOwn: (document: string) => boolean): Promise<HttpResponse> | undefined;
}

export function buildAggregation(options: Options, parts: AggregationParts): WiredAggregation {
  const { misc } = options;
  const { lookup } = parts.resources;
  const { log } = parts;
  const services = new ApiServices(parts.resources.store(API_SERVICES), log);
  const servers = new RemoteServers({
    resolve: misc.enableAggregatorRouting ? resolveByEndpoints(lookup, Math.random) : resolveByClusterIp(lookup),
    dialer: parts.dialers.cluster,
    identity: () => identity(),
  });
  const { proxyClientCertFile: certFile, proxyClientKeyFile: keyFile } = misc;
  const identity =
    certFile === '' || keyFile === ''
      ? () => ({})
      : followProxyClientCertificate({
          certFile,
          keyFile,
          onChange: () => servers.renewConnections(),
          signal: parts.stopping,
          reloads: parts.reloads,
          log: parts.log,
        });
  parts.stopping.addEventListener('abort', () => servers.close(), { once: true });
  const openApi = new RemoteOpenApi(services, servers, () => new Date());
  const certificates = certificateNotes(parts.metrics, 'kube_aggregator');
  const proxyOptions = { servers, rejectRedirects: misc.aggregatorRejectForwardingRedirect, certificates, log };
  return {
    services,
    servers,
    remote: new RemoteDiscovery(services, servers, systemClock),
    openApi,
    // hot: every request
    proxy(proxied, isOwn) {
      if (!services.anyRemote) return undefined;
      const { path } = proxied.info;
      const service = path.startsWith(OPENAPI_DOCUMENTS)
        ? openApi.serverOf(path.slice(OPENAPI_DOCUMENTS.length), isOwn)
        : services.remote(groupVersionOf(path));
      return service === undefined ? undefined : proxyToExtension(service, proxied, proxyOptions);
    },
  };
}

const OPENAPI_DOCUMENTS = '/openapi/v3/';

/** `v1.wares.example` for what lies under /apis/wares.example/v1; empty for other paths. */
function groupVersionOf(path: string): string {
  const [empty, root, group, version] = path.split('/', 4);
  return empty === '' && root === 'apis' && group && version ? `${version}.${group}` : '';
}
