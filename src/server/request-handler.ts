// From a plain request to its answer: the filters, and behind them resources or other paths.
import type { Authentication } from '../authn/create-authenticator.js';
import type { Audit } from '../filters/audit.js';
import type { IdentityHeaders } from '../filters/authentication.js';
import { buildChain } from '../filters/chain.js';
import type { Exchange, Filter } from '../filters/exchange.js';
import { monotonicClock, systemClock } from '../lib/async/clock.js';
import type { HttpHandler, HttpResponse } from '../lib/http/http.js';
import type { Logs } from '../lib/telemetry/log.js';
import { threadCounters, ThreadUseHistory } from '../lib/scheduling/thread-use.js';
import type { MetricRegistry } from '../lib/telemetry/metrics.js';
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import { debounce } from '../lib/async/debounce.js';
import type { StatusError } from '../machinery/status.js';
import type { VersionInfo } from '../machinery/version-info.js';
import { flagValues } from '../options/flag-values.js';
import { minorVersionText } from '../machinery/kube-version.js';
import { PROGRAM } from '../machinery/names.js';
import type { Options } from '../options/options.js';
import { neverCompress } from '../rest/wire/compress.js';
import { createDiscovery, discoveryPaths } from '../rest/discovery/discovery.js';
import { createOpenApi, type OpenApi, OPENAPI_PATHS } from '../rest/openapi/openapi.js';
import { nonResourceRoutes } from '../rest/openapi/non-resource-routes.js';
import { recordAnswer } from '../rest/contract/record-verb.js';
import { respondError } from '../rest/answer/respond.js';
import { createRouter } from '../rest/router.js';
import type { RestServices } from '../rest/contract/services.js';
import type { WiredAggregation } from './outgoing/aggregation.js';
import type { Debug } from './paths/debug.js';
import { metricsAnswer, rawJson } from './paths/endpoints.js';
import type { WiredFlowControl } from './flow-control/flow-control.js';
import type { Health } from './lifecycle/health.js';
import type { Lifecycle } from './lifecycle/lifecycle.js';
import { flagsPage, type ServerState, statusPage } from './paths/debug-pages.js';
import { logFiles } from './paths/log-files.js';
import { at, createPaths, getAt, type PathHandler } from './paths/paths.js';
import type { WiredPeers } from './outgoing/peers.js';
import { encodedDefinitions } from './paths/encoded-definitions.js';
import { binaryVersion } from './metrics/release-metrics.js';
import type { Resources } from './kinds/resources.js';
import type { ServerMetrics } from './metrics/server-metrics.js';
import type { WiredStorageVersions } from './kinds/storage-versions.js';
import type { ServiceAccountTokens } from './access/service-account-tokens.js';
import type { Tracer } from '../tracing/tracer.js';
import type { OpenSeatPool } from '../workers/seat-pool.js';
import type { SupervisorLink } from '../workers/supervisor-link.js';

/** After kinds came or went: most come with others, and their clients soon request discovery. */
const PREPARE_DISCOVERY = { quietMs: 20, atMostMs: 250 };

export interface HandlerParts {
  readonly options: Options;
  readonly logs: Logs;
  readonly lifecycle: Lifecycle;
  readonly health: Health;
  readonly metrics: ServerMetrics;
  readonly version: VersionInfo;
  readonly debug: Debug;
  readonly debugFlags: PathHandler;
  readonly resources: Resources;
  readonly services: RestServices;
  readonly authentication: Authentication;
  readonly tokens: ServiceAccountTokens;
  /** Handlers of parts that not every server has. */
  readonly morePaths: readonly PathHandler[];
  readonly audit: Audit | undefined;
  readonly tracer: Tracer | undefined;
  readonly flowControl: WiredFlowControl | undefined;
  /** Where several processes are one server: they share the limits. */
  readonly openSeatPool: OpenSeatPool | undefined;
  readonly aggregation: WiredAggregation;
  readonly peers: WiredPeers | undefined;
  readonly storageVersions: WiredStorageVersions | undefined;
  /** Only throwaway clusters have it. */
  readonly faults: Filter | undefined;
  /** Where several processes are one server. */
  readonly link: SupervisorLink | undefined;
}

export function buildRequestHandler(parts: HandlerParts): HttpHandler {
  const { options, logs, lifecycle, metrics, resources, services } = parts;
  const { generic } = options;
  const router = createRouter(services, resources.find, resources.isBuiltIn);
  const openApi = buildOpenApi(parts);
  const paths = buildPaths(parts, openApi);
  const compresses = options.featureGates.enabled('APIResponseCompression');
  const renderStatus = (error: StatusError, { request, info, span }: Exchange): HttpResponse => {
    const answer = respondError(request, error, services.mediaTypes);
    return span === undefined ? answer : recordAnswer(span, { http: request, info }, answer);
  };
  const threadUse = new ThreadUseHistory(monotonicClock, threadCounters());
  return buildChain(
    {
      logs,
      metrics: metrics.requests,
      draining: lifecycle,
      authenticator: parts.authentication,
      authorizer: services.authorizer,
      authorizeWithSelectors: options.featureGates.enabled('AuthorizeWithSelectors'),
      renderStatus,
      requestTimeoutMs: generic.requestTimeoutMs,
      maxRequestsInFlight: generic.maxRequestsInflight,
      maxMutatingRequestsInFlight: generic.maxMutatingRequestsInflight,
      openSeatPool: parts.openSeatPool,
      corsAllowedOrigins: generic.corsAllowedOrigins,
      hstsDirectives: generic.strictTransportSecurityDirectives,
      goawayChance: generic.goawayChance,
      closeUnknownHttp2: options.featureGates.enabled('UnauthenticatedHTTP2DOSMitigation'),
      maxConnectionBytesPerSecond: options.misc.maxConnectionBytesPerSec,
      shutdownSendRetryAfter: generic.shutdownSendRetryAfter,
      audit: parts.audit,
      tracing: parts.tracer,
      threadUse: (sinceMs) => threadUse.since(sinceMs),
      storageVersions: parts.storageVersions?.barrier,
      faults: parts.faults,
      identityHeaders: identityHeadersOf(options),
      ...(parts.flowControl && { priorityAndFairness: parts.flowControl.filter }),
    },
    (exchange) => {
      const { request, info, user, auditId } = exchange;
      const failed = (status: number): void => metrics.requests.proxyFailed(exchange, status);
      const annotate = (key: string, value: string): void => exchange.annotate(key, value);
      const proxied = user && { request, info, user, auditId, trace: exchange, failed, annotate };
      const atPeer = proxied && parts.peers?.proxy(proxied);
      if (atPeer !== undefined) return atPeer;
      const elsewhere = proxied && parts.aggregation.proxy(proxied, openApi.has);
      if (elsewhere !== undefined) return elsewhere;
      // The documents of all types are compressed anyway.
      if (!compresses && !info.path.startsWith('/openapi')) neverCompress(request);
      if (!info.isResourceRequest || user === undefined) {
        exchange.servedBy = 'path';
        const { span } = exchange;
        const answer = paths(request, info.path);
        if (span === undefined) return answer;
        return whenReady(answer, (ready) => recordAnswer(span, { http: request, info }, ready));
      }
      return router.handle({
        http: request,
        info,
        user,
        startedMs: exchange.startedMs,
        websocketProtocols: exchange.websocketProtocols,
        deadlineMs: exchange.deadlineMs,
        warn: (text) => exchange.warn(text),
        spent: (layer, ms) => exchange.spent(layer, ms),
        served(by) {
          exchange.servedBy = by;
        },
        deprecated: (removedRelease) => metrics.requests.deprecated(info, removedRelease),
        annotate: (key, value, level) => exchange.annotate(key, value, level),
        trail: exchange.trail,
        trace: exchange,
      });
    },
  );
}

/** None where no front proxy is trusted: then nobody reads them. */
function identityHeadersOf({ authentication }: Options): IdentityHeaders | undefined {
  if (authentication.requestheaderClientCaFile === '') return undefined;
  const lower = (headers: readonly string[]): string[] => headers.map((header) => header.toLowerCase());
  return {
    names: lower([
      ...authentication.requestheaderUsernameHeaders,
      ...authentication.requestheaderUidHeaders,
      ...authentication.requestheaderGroupHeaders,
    ]),
    prefixes: lower(authentication.requestheaderExtraHeadersPrefix),
  };
}

function buildOpenApi({ options, resources, services, tokens, aggregation }: HandlerParts): OpenApi {
  return createOpenApi({
    endpoints: () => resources.all(),
    mediaTypes: services.mediaTypes,
    version: minorVersionText(options.emulatedVersion),
    enums: services.features.enabled('OpenAPIEnums'),
    builtIn: encodedDefinitions(__dirname),
    beside: nonResourceRoutes({ issuer: tokens.paths.length > 0, logs: options.misc.enableLogsHandler }),
    extensions: aggregation.openApi,
    workers: resources.workers,
    now: services.clock,
  });
}

function buildPaths(
  {
    options,
    health,
    metrics,
    version,
    debug,
    debugFlags,
    resources,
    services,
    tokens,
    flowControl,
    morePaths,
    aggregation,
    link,
  }: HandlerParts,
  openApi: OpenApi,
): ReturnType<typeof createPaths> {
  const aggregations = metrics.registry.counter({
    name: 'aggregator_discovery_aggregation_count_total',
    help: 'How often the document with all of discovery was put together anew.',
    stability: 'ALPHA',
  });
  const discovery = createDiscovery({
    endpoints: () => resources.all(),
    mediaTypes: services.mediaTypes,
    aggregatedVersions: services.features.enabled('AggregatedDiscoveryRemoveBetaType') ? ['v2'] : ['v2', 'v2beta1'],
    serverAddress: `${options.generic.advertiseAddress}:${options.secureServing.securePort}`,
    registered: aggregation.remote,
    storageVersionHashes: services.features.enabled('StorageVersionHash'),
    onAggregated: () => aggregations.with().inc(),
  });
  resources.whenChanged(debounce(systemClock, PREPARE_DISCOVERY, () => discovery.prepare()));
  const textOf = (which: string, registry: MetricRegistry): MaybePromise<string> =>
    link === undefined ? registry.text() : (link.channel.ask('metrics', which) as Promise<string>);
  const handlers: PathHandler[] = [
    (request, path) => discovery.answer(request, path),
    (request, path) => openApi.handle(request, path),
    (request, path) => health.handle(request, path),
    ...tokens.paths,
    ...(flowControl?.paths ?? []),
    ...morePaths,
    getAt('/version', 'application/json', () => rawJson(200, version)),
    at('/metrics', () => whenReady(textOf('metrics', metrics.registry), metricsAnswer)),
    at('/metrics/slis', () => whenReady(textOf('slis', metrics.sliRegistry), metricsAnswer)),
  ];
  const gated = pagesBehindGates(options, version, { startedMs: serverStartedMs(link), paths: () => index() });
  for (const { handler } of gated) handlers.push(handler);
  if (options.misc.enableLogsHandler) handlers.push(logFiles());
  if (options.features.profiling) handlers.push((request, path) => debug.handle(request, path), debugFlags);
  const index = (): string[] => [
    ...discoveryPaths(resources.all()),
    ...health.paths(),
    ...OPENAPI_PATHS,
    ...tokens.index,
    ...gated.map(({ path }) => path),
    ...(options.misc.enableLogsHandler ? ['/logs'] : []),
    '/metrics',
    '/metrics/slis',
    '/version',
  ];
  return createPaths({ handlers, index });
}

/** A worker process may have been started later than the server. */
const serverStartedMs = (link: SupervisorLink | undefined): number => link?.serverStartedMs ?? performance.timeOrigin;

function pagesBehindGates(
  options: Options,
  { goVersion }: VersionInfo,
  own: Pick<ServerState, 'startedMs' | 'paths'>,
): readonly { readonly path: string; readonly handler: PathHandler }[] {
  const { featureGates, emulatedVersion } = options;
  const state: ServerState = {
    ...own,
    nowMs: Date.now,
    runtime: goVersion,
    binaryVersion: binaryVersion(options.gitVersion),
    emulatedVersion: minorVersionText(emulatedVersion),
  };
  return [
    ...(featureGates.enabled('ComponentFlagz')
      ? [{ path: '/flagz', handler: flagsPage(PROGRAM, () => flagValues(options)) }]
      : []),
    ...(featureGates.enabled('ComponentStatusz') ? [{ path: '/statusz', handler: statusPage(state) }] : []),
  ];
}
