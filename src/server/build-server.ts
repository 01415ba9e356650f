// Wires everything, in the order things need each other. No other file knows all the rooms.
import os from 'node:os';
import type { Authentication } from '../authn/create-authenticator.js';
import { createTokenCacheMetrics } from '../authn/token-cache-metrics.js';
import type { HttpHandler } from '../lib/http.js';
import type { Logs } from '../lib/log.js';
import { createRestMetrics } from '../rest/rest-metrics.js';
import { UnreadEvents } from '../rest/unread-events.js';
import { emulatedVersionInfo } from '../machinery/version-info.js';
import type { Options } from '../options/options.js';
import type { UserInfo } from '../machinery/user.js';
import type { LifeContext, ObjectOperations } from '../registry/kind.js';
import { asideConverter } from '../rest/convert-bytes.js';
import { MEDIA_TYPES, MEDIA_TYPES_WITH_CBOR } from '../rest/media-types.js';
import type { RestServices } from '../rest/services.js';
import { createServerClient } from '../registry/server-client.js';
import { buildAuthentication } from './access.js';
import { addKinds } from './add-kinds.js';
import { buildAdmission } from './admission.js';
import { buildAside } from './build-aside.js';
import { buildAggregation } from './aggregation.js';
import { buildAudit } from './audit.js';
import { type Authorization, buildAuthorization } from './authorization.js';
import { createDebug, serveDebugSocket } from './debug.js';
import { conversionWebhooks } from './conversion-webhooks.js';
import { createDialers } from './dialers.js';
import { expressionMetrics, lazyExpressions } from './expressions.js';
import { buildFlowControl } from './flow-control.js';
import { Health } from './health.js';
import { lateBound } from './late-bound.js';
import { createLoopback, LOOPBACK_USER, SERVER_USER } from './loopback.js';
import { ownReview } from './own-review.js';
import { Lifecycle } from './lifecycle.js';
import { buildNodeAccess } from './node-access.js';
import { buildOtherTokens } from './other-tokens.js';
import { openResources } from './open-resources.js';
import { buildPeers } from './peers.js';
import { PostStartHooks } from './post-start-hooks.js';
import { patientPolicies } from './policies-aside.js';
import { prepareCertificates } from './prepare-certificates.js';
import { buildRequestHandler } from './request-handler.js';
import { createServerMetrics } from './server-metrics.js';
import { ensurePortFree } from './listener.js';
import { type RunningServer, startServer } from './server.js';
import { buildServiceAccountTokens } from './service-account-tokens.js';
import { createServiceAllocators } from './service-allocators.js';
import { loadServingCertificates } from './serving-certificates.js';
import { servingOptions } from './serving-options.js';
import { addStartHooks } from './start-hooks.js';
import { buildStorageVersions } from './storage-versions.js';
import { buildTokenSigning } from './token-signing.js';
import { createTracer } from './tracer.js';

const MAX_BODY_BYTES = 3 * 1024 * 1024;

export async function buildServer(options: Options, logs: Logs): Promise<RunningServer> {
  const { bindAddress: address, securePort: port, permitPortSharing } = options.secureServing;
  await ensurePortFree({ address, port, permitPortSharing });
  const clock = (): Date => new Date();
  const lifecycle = new Lifecycle({
    shutdownDelayMs: options.generic.shutdownDelayDurationMs,
    shutdownSendRetryAfter: options.generic.shutdownSendRetryAfter,
    shutdownWatchTerminationGracePeriodMs: options.generic.shutdownWatchTerminationGracePeriodMs,
    log: logs.for('lifecycle'),
  });
  const version = emulatedVersionInfo(options.gitVersion, options.emulatedVersion, options.minCompatibleVersion);
  const metrics = createServerMetrics({
    flags: options.metrics,
    version,
    release: options,
    isServed: ({ apiGroup, apiVersion, resource }) => resources.find(apiGroup, apiVersion, resource) !== undefined,
    log: logs.for('metrics'),
  });
  const health = new Health({
    livezGracePeriodMs: options.generic.livezGracePeriodMs,
    log: logs.for('health'),
    observe: metrics.observeHealth,
  });
  const hooks = new PostStartHooks(health);

  // What is stored, and how it is reached.
  const dialers = createDialers(options, metrics.registry);
  // First of those that close at the end, and so the last: until then there may be something to send.
  const tracer = createTracer(options, {
    metrics: metrics.registry,
    dialer: dialers.controlplane,
    log: logs.for('tracing'),
    onDrained: (close) => lifecycle.onDrained(close),
  });
  const audit = buildAudit(options, {
    metrics: metrics.registry,
    log: logs.for('audit'),
    dialer: dialers.controlplane,
    onDrained: (close) => lifecycle.onDrained(close),
  });
  // The server's own part in the life of objects.
  const kindOptions = {
    allowPrivileged: options.misc.allowPrivileged,
    eventTtlSeconds: options.misc.eventTtlMs / 1000,
  };
  const times = expressionMetrics(metrics.registry);
  const aside = buildAside(options, { kindOptions, times, log: logs.for('aside') });
  const { stores, encryption, resources } = await openResources(options, {
    aside,
    dialer: dialers.etcd,
    health,
    hooks,
    lifecycle,
    metrics: metrics.registry,
    clock,
    logs,
  });

  const serverContext = (): LifeContext => ({
    user: SERVER_USER,
    namespace: '',
    now: clock,
    features: options.featureGates,
    dryRun: false,
    options: kindOptions,
    lookup: resources.lookup,
    warn: () => undefined,
  });
  const certificates = prepareCertificates(options, Date.now(), (text) => logs.for('certificates').warning(text));
  // What the server writes is looked at by plugins that are built later.
  const own = lateBound<ObjectOperations>();
  const tokens = buildServiceAccountTokens(options, {
    signing: await buildTokenSigning(options, {
      certificates,
      metrics: metrics.registry,
      stopping: lifecycle.stopping,
      log: logs.for('service-account-tokens'),
    }),
    resources,
    operations: () => own.value,
    context: serverContext,
    metrics: metrics.registry,
    log: logs.for('service-account-tokens'),
  });
  const allocators = createServiceAllocators({
    resources,
    prefix: options.etcd.etcdPrefix,
    ranges: [options.serviceRanges.primary, options.serviceRanges.secondary].filter((range) => range !== undefined),
    nodePorts: options.misc.serviceNodePortRange,
    features: options.featureGates,
    context: serverContext,
    log: (message) => logs.for('service-repair').info(message),
    metrics: metrics.registry,
  });

  const expressions = lazyExpressions(
    { compatibility: options.minCompatibleVersion, features: options.featureGates },
    times,
  );

  const access = lateBound<{ authorization: Authorization; authentication: Authentication }>();
  addKinds(options, {
    resources,
    stores,
    allocators,
    tokens,
    expressions,
    access,
    context: serverContext,
    metrics: metrics.registry,
  });
  const authorization = buildAuthorization(options, {
    resources,
    dialer: dialers.controlplane,
    expressions,
    metrics: metrics.registry,
    stopping: lifecycle.stopping,
    log: logs.for('authorization'),
  });
  const cacheMetrics = createTokenCacheMetrics(metrics.registry);
  const authentication = buildAuthentication(options, {
    apiAudiences: options.authentication.apiAudiences,
    clientCaFile: certificates.clientCaFile,
    serviceAccounts: tokens.authenticators,
    other: buildOtherTokens(options, {
      resources,
      dialers,
      metrics: metrics.registry,
      cacheMetrics,
      stopping: lifecycle.stopping,
      log: logs.for('authentication'),
    }),
    cacheMetrics,
    metrics: metrics.registry,
    log: logs.for('authentication'),
  });
  access.set({ authorization, authentication });
  const entrance = lateBound<HttpHandler>();
  const loopback = createLoopback(() => entrance.value);

  // The way of a request.
  const admission = buildAdmission(options, {
    resources,
    authorizer: authorization.authorizer,
    metrics: metrics.registry,
    policyCompiler: patientPolicies(expressions, aside),
    dialers,
    itself: loopback.client,
    stopping: lifecycle.stopping,
    log: logs.for('admission'),
    aside,
  });
  const operationsAs = (user: UserInfo): ObjectOperations =>
    resources.operationsWith(ownReview(resources, admission.asking, user));
  const operations = operationsAs(LOOPBACK_USER);
  own.set(operations);
  const services: RestServices = {
    admission: admission.chain,
    authorizer: authorization.authorizer,
    features: options.featureGates,
    kindOptions,
    lookup: resources.lookup,
    operations: resources.operations,
    ownOperations: operations,
    nodes: buildNodeAccess(options.misc, {
      dialer: dialers.cluster,
      metrics: metrics.registry,
      onDrained: (close) => lifecycle.onDrained(close),
    }),
    mediaTypes: options.featureGates.enabled('CBORServingAndStorage') ? MEDIA_TYPES_WITH_CBOR : MEDIA_TYPES,
    converter: asideConverter(aside),
    clock,
    random: Math.random,
    minWatchSeconds: options.generic.minRequestTimeout,
    unreadEvents: new UnreadEvents(),
    metrics: createRestMetrics(metrics.registry),
    maxBodyBytes: MAX_BODY_BYTES,
    shutdown: lifecycle.stopping,
  };
  const aggregation = buildAggregation(options, {
    resources,
    dialers,
    metrics: metrics.registry,
    stopping: lifecycle.stopping,
    log: logs.for('aggregation'),
  });
  const hostname = os.hostname();
  const peers = buildPeers(options, {
    hostname,
    resources,
    dialers,
    health,
    lifecycle,
    metrics: metrics.registry,
    servesItself: ({ apiGroup, apiVersion, resource }) =>
      resources.find(apiGroup, apiVersion, resource) !== undefined ||
      aggregation.services.remote(`${apiVersion}.${apiGroup}`) !== undefined,
    log: logs.for('peers'),
  });
  const client = createServerClient({ operations, lookup: resources.lookup, context: serverContext });
  const storageVersions = buildStorageVersions(options, {
    hostname,
    resources,
    client,
    log: logs.for('storage-versions'),
  });
  const debug = createDebug({ contentionProfiling: options.features.contentionProfiling });
  const handler = buildRequestHandler({
    options,
    logs,
    lifecycle,
    health,
    metrics,
    version,
    debug,
    resources,
    services,
    authentication: loopback.authenticator(authentication),
    tokens,
    audit,
    tracer,
    flowControl: buildFlowControl(options, {
      resources,
      metrics: metrics.registry,
      requests: metrics.requests,
      stopping: lifecycle.stopping,
      log: logs.for('flow-control'),
    }),
    morePaths: encryption?.paths ?? [],
    aggregation,
    peers,
    storageVersions,
  });

  entrance.set(handler);
  const { debugSocketPath } = options.features;
  if (debugSocketPath !== '') {
    lifecycle.onDrained(await serveDebugSocket({ file: debugSocketPath, debug, log: logs.for('debug') }));
  }
  addStartHooks(hooks, {
    options,
    expressions,
    logs,
    lifecycle,
    health,
    resources,
    metrics: metrics.registry,
    certificates,
    authorization,
    allocators,
    aggregation,
    converterOf: conversionWebhooks({
      lookup: resources.lookup,
      dialers,
      itself: loopback.client,
      byEndpoints: options.misc.enableAggregatorRouting,
      metrics: metrics.registry,
      stopping: lifecycle.stopping,
      trace: tracer?.background,
    }),
    operations,
    operationsAs,
    serverContext,
    hostname,
    client,
    peers,
    storageVersions,
  });
  return startServer({
    listener: {
      address,
      port,
      certificates: loadServingCertificates({
        ...servingOptions(options, certificates.serving, certificates.clientCaFile),
        log: logs.for('certificates'),
      }),
      disableHttp2: options.secureServing.disableHttp2Serving,
      http2MaxStreamsPerConnection: options.secureServing.http2MaxStreamsPerConnection,
      permitPortSharing,
      onTlsError: metrics.onTlsError,
      handler,
    },
    lifecycle,
    health,
    hooks,
    logs,
  });
}
