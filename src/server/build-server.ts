// Wires everything. No other file knows all the rooms.
import { createChain } from '../admission/chain.js';
import { orderedPlugins } from '../admission/ordered-plugins.js';
import { enabledAdmissionPlugins } from '../options/admission-plugins.js';
import { buildChain } from '../filters/chain.js';
import type { Exchange } from '../filters/exchange.js';
import { createRequestMetrics } from '../filters/request-metrics.js';
import { openEmbeddedStore } from '../kv/embedded/embedded.js';
import type { HttpResponse } from '../lib/http.js';
import type { Logs } from '../lib/log.js';
import { MetricRegistry } from '../lib/metrics.js';
import { apiEnablement } from '../machinery/api-enablement.js';
import type { StatusError } from '../machinery/status.js';
import { MASTERS_GROUP } from '../machinery/user.js';
import { emulatedVersionInfo } from '../machinery/version-info.js';
import type { Options } from '../options/options.js';
import type { LifeContext } from '../registry/kind.js';
import { createDiscovery, discoveryPaths } from '../rest/discovery.js';
import { MEDIA_TYPES } from '../rest/media-types.js';
import { respondError } from '../rest/respond.js';
import { createRouter } from '../rest/router.js';
import type { RestServices } from '../rest/services.js';
import { createResourceStore } from '../storage/create-store.js';
import type { Authentication } from '../authn/create-authenticator.js';
import { type Authorization, buildAuthentication, buildAuthorization } from './access.js';
import { createDebug } from './debug.js';
import { metricsText, rawJson } from './endpoints.js';
import { at, createPaths } from './paths.js';
import { registerProcessMetrics } from './process-metrics.js';
import { loadServingCertificates } from './serving-certificates.js';
import { Health } from './health.js';
import { serverKinds } from './kinds.js';
import { Lifecycle } from './lifecycle.js';
import { PostStartHooks } from './post-start-hooks.js';
import { nameSuffix, Resources } from './resources.js';
import { buildServiceAccountTokens } from './service-account-tokens.js';
import { createServiceAllocators, deleteEndpoints } from './service-allocators.js';
import { type RunningServer, startServer } from './server.js';
import { prepareCertificates } from './prepare-certificates.js';

const MAX_BODY_BYTES = 3 * 1024 * 1024;

export async function buildServer(options: Options, logs: Logs): Promise<RunningServer> {
  const clock = (): Date => new Date();
  const lifecycle = new Lifecycle({
    shutdownDelayMs: options.generic.shutdownDelayDurationMs,
    shutdownSendRetryAfter: options.generic.shutdownSendRetryAfter,
    shutdownWatchTerminationGracePeriodMs: options.generic.shutdownWatchTerminationGracePeriodMs,
    log: logs.for('lifecycle'),
  });
  const health = new Health({ livezGracePeriodMs: options.generic.livezGracePeriodMs, log: logs.for('health') });
  const hooks = new PostStartHooks(health);
  const kv = await openEmbeddedStore({ folder: options.dataDir });
  lifecycle.onDrained(() => kv.close());
  const prefix = options.etcd.etcdPrefix;
  const resources = new Resources({
    prefix,
    openStore: (storeOptions) => createResourceStore({ kv, options: storeOptions, cache: options.etcd.watchCache }),
    clock,
    garbageCollection: options.etcd.enableGarbageCollector,
    deleteCollectionWorkers: options.etcd.deleteCollectionWorkers,
    enablement: apiEnablement(options.apiEnablement.runtimeConfig, options.emulatedApis),
  });
  const kindOptions = {
    allowPrivileged: options.misc.allowPrivileged,
    eventTtlSeconds: options.misc.eventTtlMs / 1000,
  };
  const serverContext = (): LifeContext => ({
    user: { name: 'system:apiserver', groups: [MASTERS_GROUP] },
    namespace: '',
    now: clock,
    features: options.featureGates,
    dryRun: false,
    options: kindOptions,
    lookup: resources.lookup,
    warn: () => undefined,
  });
  const certificates = prepareCertificates(options, Date.now());
  const apiAudiences = options.authentication.apiAudiences;
  const tokens = buildServiceAccountTokens(options, {
    certificates,
    resources,
    context: serverContext,
    log: logs.for('service-account-tokens'),
  });
  const pending = lateBound<{ authorization: Authorization; authentication: Authentication }>();
  const allocators = createServiceAllocators({
    resources,
    prefix,
    ranges: [options.serviceRanges.primary, options.serviceRanges.secondary].filter((range) => range !== undefined),
    nodePorts: options.misc.serviceNodePortRange,
    context: serverContext,
    log: (message) => logs.for('service-repair').info(message),
  });
  const kinds = serverKinds({
    core: {
      service: {
        allocators,
        relaxedNames: options.featureGates.enabled('RelaxedServiceNameValidation'),
        deleteEndpoints: (namespace, name) => deleteEndpoints(resources, namespace, name, serverContext()),
      },
      serviceAccount: tokens.kind,
    },
    access: {
      authorizer: {
        authorize: (attributes) => pending.value.authorization.authorizer.authorize(attributes),
        rulesFor: (user, namespace) => pending.value.authorization.authorizer.rulesFor(user, namespace),
      },
      rules: {
        grantsFor: (user, namespace) => pending.value.authorization.rules.grantsFor(user, namespace),
        get version() {
          return pending.value.authorization.rules.version;
        },
      },
    },
    identity: {
      authentication: {
        reviewToken: (token, audiences) => pending.value.authentication.reviewToken(token, audiences),
      },
      apiAudiences,
    },
  });
  for (const kind of kinds) resources.add(kind);
  const authorization = buildAuthorization(options, resources, lifecycle.stopping, logs.for('authorization'));
  const authentication = buildAuthentication(options, {
    apiAudiences,
    clientCaFile: certificates.clientCaFile,
    serviceAccounts: tokens.authenticators,
    log: logs.for('authentication'),
  });
  pending.set({ authorization, authentication });
  const plugins = orderedPlugins({
    tolerationSeconds: {
      notReady: options.admission.defaultNotReadyTolerationSeconds,
      unreachable: options.admission.defaultUnreachableTolerationSeconds,
    },
    serviceAccount: { nameSuffix, wait },
  });
  const enabledPlugins: ReadonlySet<string> = enabledAdmissionPlugins(options.admission);
  const admission = createChain(plugins.filter(({ name }) => enabledPlugins.has(name)));
  const services: RestServices = {
    admission,
    authorizer: authorization.authorizer,
    features: options.featureGates,
    kindOptions,
    lookup: resources.lookup,
    operations: resources.operations,
    mediaTypes: MEDIA_TYPES,
    clock,
    random: Math.random,
    minWatchSeconds: options.generic.minRequestTimeout,
    maxBodyBytes: MAX_BODY_BYTES,
    shutdown: lifecycle.stopping,
  };
  const router = createRouter(services, resources.find);
  const metricRegistry = new MetricRegistry();
  const metrics = createRequestMetrics(metricRegistry);
  const renderStatus = (error: StatusError, { request }: Exchange): HttpResponse =>
    respondError(request, error, MEDIA_TYPES);
  const version = emulatedVersionInfo(options.gitVersion, options.emulatedVersion, options.minCompatibleVersion);
  registerProcessMetrics(metricRegistry, version);
  const debug = createDebug({ contentionProfiling: options.features.contentionProfiling });
  const discovery = createDiscovery({
    endpoints: () => resources.all(),
    mediaTypes: MEDIA_TYPES,
    serverAddress: `${options.generic.advertiseAddress}:${options.secureServing.securePort}`,
  });
  const paths = createPaths({
    handlers: [
      discovery,
      (request) => health.handle(request),
      ...tokens.paths,
      at('/version', () => rawJson(200, version)),
      at('/metrics', () => metricsText(metricRegistry)),
      (request) => (options.features.profiling ? debug.handle(request) : undefined),
    ],
    index: () => [...discoveryPaths(resources.all()), ...health.paths(), ...tokens.index, '/metrics', '/version'],
  });
  const handler = buildChain(
    {
      logs,
      metrics,
      draining: lifecycle,
      authenticator: authentication,
      authorizer: authorization.authorizer,
      apiAudiences,
      renderStatus,
      requestTimeoutMs: options.generic.requestTimeoutMs,
      maxRequestsInFlight: options.generic.maxRequestsInflight,
      maxMutatingRequestsInFlight: options.generic.maxMutatingRequestsInflight,
      corsAllowedOrigins: options.generic.corsAllowedOrigins,
      hstsDirectives: options.generic.strictTransportSecurityDirectives,
      goawayChance: options.generic.goawayChance,
      maxConnectionBytesPerSecond: options.misc.maxConnectionBytesPerSec,
      shutdownSendRetryAfter: options.generic.shutdownSendRetryAfter,
    },
    (exchange) => {
      const { request, info, user } = exchange;
      if (info.isResourceRequest && user !== undefined) {
        return router.handle({
          http: request,
          info,
          user,
          warn: (text) => exchange.warn(text),
          annotate: (key, value) => exchange.annotate(key, value),
        });
      }
      return paths(request);
    },
  );
  hooks.add(allocators.repair);
  hooks.add({ name: 'rbac/sync', run: () => authorization.synced });
  return startServer({
    listener: {
      address: options.secureServing.bindAddress,
      port: options.secureServing.securePort,
      certificates: loadServingCertificates({
        serving: certificates.serving,
        clientCaFiles: certificates.clientCaFile === '' ? [] : [certificates.clientCaFile],
        log: logs.for('certificates'),
      }),
      disableHttp2: options.secureServing.disableHttp2Serving,
      http2MaxStreamsPerConnection: options.secureServing.http2MaxStreamsPerConnection,
      handler,
    },
    lifecycle,
    health,
    hooks,
    logs,
  });
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** For parts that need each other: asked for only after all are made. */
function lateBound<T>(): { readonly value: T; set(value: T): void } {
  let bound: { readonly value: T } | undefined;
  return {
    get value() {
      if (bound === undefined) throw new Error('asked for before the server was built');
      return bound.value;
    },
    set: (value) => (bound = { value }),
  };
}
