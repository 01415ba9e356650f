// Wires everything, in the order things need each other. No other file knows all the rooms.
//
//   core → objects → access → request path → server     each has what those before it made, and adds its own
import type { Socket } from 'node:net';
import os from 'node:os';
import type { Authentication } from '../authn/create-authenticator.js';
import { createTokenCacheMetrics } from '../authn/token-cache-metrics.js';
import { type FaultInjection, faultInjection } from '../filters/fault-injection.js';
import type { KeyValueStore } from '../kv/kv.js';
import type { HttpHandler, HttpResponse } from '../lib/http/http.js';
import type { Logs } from '../lib/telemetry/log.js';
import { createRestMetrics } from '../rest/contract/metrics.js';
import { WatchBuffers } from '../rest/wire/watch-buffers.js';
import { emulatedVersionInfo } from '../machinery/version-info.js';
import type { Options } from '../options/options.js';
import { assemblyMistake } from '../options/startup-checks.js';
import type { UserInfo } from '../machinery/user.js';
import type { LifeContext, ObjectOperations } from '../registry/kind.js';
import { workerConverter } from '../rest/wire/convert-bytes.js';
import { MEDIA_TYPES, MEDIA_TYPES_WITH_CBOR } from '../rest/wire/media-types.js';
import type { RestServices } from '../rest/contract/services.js';
import { askWorker } from '../workers/ask-others.js';
import { type SharedSeats, sharedSeats } from '../workers/shared-seats.js';
import type { SupervisorLink } from '../workers/supervisor-link.js';
import { createServerClient } from '../registry/server-client.js';
import { buildAuthentication } from './access/access.js';
import { addKinds } from './add-kinds.js';
import { buildAdmission } from './admission/admission.js';
import { buildWorkerPool } from './worker/build-worker-pool.js';
import { buildAggregation } from './outgoing/aggregation.js';
import { buildAudit } from './telemetry/audit.js';
import { sharedAuditLog } from './telemetry/shared-audit-log.js';
import { type Authorization, buildAuthorization } from './access/authorization.js';
import { createDebug, type DebuggedWorker, type RelayedRequest, serveDebugSocket } from './paths/debug.js';
import { debugFlags } from './paths/debug-flags.js';
import { conversionWebhooks } from './outgoing/conversion-webhooks.js';
import { createDialers } from './outgoing/dialers.js';
import { expressionMetrics, lazyExpressions } from './kinds/expressions.js';
import { buildFlowControl } from './flow-control/flow-control.js';
import { type FailedChecks, Health, type HealthEndpoint } from './lifecycle/health.js';
import { deferredRef } from './lifecycle/deferred-ref.js';
import { createLoopback, LOOPBACK_USER, SERVER_USER } from './outgoing/loopback.js';
import { internalWriteAdmission } from './admission/internal-write-admission.js';
import { keepHeap } from './lifecycle/keep-heap.js';
import { Lifecycle } from './lifecycle/lifecycle.js';
import { buildNodeAccess } from './outgoing/node-access.js';
import { buildOtherTokens } from './access/other-tokens.js';
import { openResources } from './storage/open-resources.js';
import { serveStore } from './storage/serve-store.js';
import { buildPeers } from './outgoing/peers.js';
import { PostStartHooks } from './lifecycle/post-start-hooks.js';
import { policiesWithWorkerFallback } from './worker/policies.worker.js';
import { prepareCertificates } from './listener/prepare-certificates.js';
import { buildRequestHandler } from './request-handler.js';
import type { Resources } from './kinds/resources.js';
import { createServerMetrics } from './metrics/server-metrics.js';
import { ensurePortFree, type OpenPort } from './listener/port.js';
import { type RunningServer, startServer } from './server.js';
import { buildServiceAccountTokens } from './access/service-account-tokens.js';
import { createServiceAllocators } from './kinds/service-allocators.js';
import { loadServingCertificates } from './listener/serving-certificates.js';
import { servingOptions } from './listener/serving-options.js';
import { StartFailure } from './lifecycle/start-failure.js';
import { addStartHooks } from './start-hooks.js';
import { buildStorageVersions } from './kinds/storage-versions.js';
import { buildTokenSigning } from './access/token-signing.js';
import { createTracer } from './telemetry/tracer.js';
import { verbositySetter } from './telemetry/shared-verbosity.js';

const MAX_BODY_BYTES = 3 * 1024 * 1024;

type Core = ReturnType<typeof buildCore>;
type Objects = Awaited<ReturnType<typeof addOwnParts>>;
type Access = ReturnType<typeof buildAccess>;
type RequestPath = ReturnType<typeof buildRequestPath>;

/** What the flags do not say. */
export interface ServerParts {
  /** Opened already, in place of the embedded one; closed with the server. */
  readonly store?: KeyValueStore;
  /** Where several processes are one server: what this one shares with the others. */
  readonly link?: SupervisorLink | undefined;
  /** Others are served by this process, too: what concerns the process is not this server's. */
  readonly sharesProcess?: boolean;
  /** Faults on demand; a server without them has no filter for them. */
  readonly faults?: FaultInjection;
}

export async function buildServer(options: Options, logs: Logs, given: ServerParts = {}): Promise<RunningServer> {
  const { link } = given;
  const { bindAddress: address, securePort: port, permitPortSharing } = options.secureServing;
  if (link === undefined) await ensurePortFree({ address, port, permitPortSharing });
  const objects = await addOwnParts(await openStores(buildCore(options, logs, link), given));
  const mistake = assemblyMistake(options);
  if (mistake !== undefined) throw new StartFailure(mistake);
  const parts = buildRequestPath(buildAccess(objects));
  const { lifecycle, health, hooks, metrics, certificates, debug, debugFlags: flags } = parts;
  const handler = buildHandler(parts, given);
  const { debugSocketPath: file } = options.features;
  if (file !== '' && link?.isFirst !== false)
    lifecycle.onDrained(await serveDebugSocket({ file, debug, flags, log: logs.for('debug') }));
  addHooks(parts);
  if (given.sharesProcess !== true) keepHeap(lifecycle.stopping);
  return startServer({
    listener: {
      address,
      port,
      certificates: loadServingCertificates({
        ...servingOptions(options, certificates.serving, certificates.clientCaFile),
        reloads: lifecycle.reloads,
        log: logs.for('certificates'),
      }),
      disableHttp2: options.secureServing.disableHttp2Serving,
      http2MaxStreamsPerConnection: options.secureServing.http2MaxStreamsPerConnection,
      permitPortSharing,
      ...(link !== undefined && { open: handedOver(link, { address, port }, parts.seats) }),
      onTlsError: metrics.onTlsError,
      handler,
    },
    lifecycle,
    health,
    hooks,
    logs,
  });
}

/** The supervisor has the port, and closes it. */
const handedOver =
  (link: SupervisorLink, at: Pick<OpenPort, 'address' | 'port'>, seats: SharedSeats | undefined) =>
  (accept: (socket: Socket) => void): OpenPort => {
    link.listen(accept);
    seats?.requestFirst();
    return { ...at, close: () => undefined };
  };

const debuggedWorker = ({ index, count, channel }: SupervisorLink): DebuggedWorker => ({
  index,
  count,
  ask: async (other, request) => (await askWorker(channel, other, 'debug', request)) as HttpResponse,
  onAsked: (answer) => channel.handle('debug', (request) => answer(request as RelayedRequest)),
});

/** What every part may need: life cycle, metrics and health, egress, traces and audit. */
function buildCore(options: Options, logs: Logs, link: SupervisorLink | undefined) {
  const lifecycle = new Lifecycle({
    shutdownDelayMs: options.generic.shutdownDelayDurationMs,
    shutdownSendRetryAfter: options.generic.shutdownSendRetryAfter,
    shutdownWatchTerminationGracePeriodMs: options.generic.shutdownWatchTerminationGracePeriodMs,
    ...(link !== undefined && { inStep: (phase) => link.phase(phase) }),
    log: logs.for('lifecycle'),
  });
  const onDrained = (close: () => Promise<void> | void): void => lifecycle.onDrained(close);
  const version = emulatedVersionInfo(options.gitVersion, options.emulatedVersion, options.minCompatibleVersion);
  const served = deferredRef<Resources>();
  const metrics = createServerMetrics({
    flags: options.metrics,
    version,
    release: options,
    isServed: ({ apiGroup, apiVersion, resource }) => served.value.find(apiGroup, apiVersion, resource) !== undefined,
    log: logs.for('metrics'),
  });
  const { registry } = metrics;
  const health = new Health({
    livezGracePeriodMs: options.generic.livezGracePeriodMs,
    log: logs.for('health'),
    observe: metrics.observeHealth,
    ...(link !== undefined && {
      others: async (endpoint) => (await link.channel.ask('health', endpoint)) as readonly FailedChecks[],
    }),
  });
  link?.channel.handle('health', (endpoint) => health.failures(endpoint as HealthEndpoint));
  link?.channel.handle('metrics', (which) => (which === 'slis' ? metrics.sliRegistry : registry).collect());
  const dialers = createDialers(options, registry);
  const dialer = dialers.controlplane;
  // First of those that close at the end, and so the last: until then there may be something to send.
  const tracer = createTracer(options, { metrics: registry, dialer, log: logs.for('tracing'), onDrained });
  const audit = buildAudit(options, {
    metrics: registry,
    log: logs.for('audit'),
    dialer,
    onDrained,
    sharedLog: link && sharedAuditLog(link),
  });
  return {
    options,
    logs,
    clock: (): Date => new Date(),
    hostname: os.hostname(),
    lifecycle,
    onDrained,
    version,
    metrics,
    registry,
    served,
    health,
    link,
    hooks: new PostStartHooks(health, link),
    seats: link && sharedSeats(link.channel),
    dialers,
    tracer,
    audit,
  };
}

/** What is stored. */
async function openStores(parts: Core, { store, link }: ServerParts) {
  const { options, logs, clock, lifecycle, registry, health, hooks, dialers } = parts;
  const kindOptions = {
    allowPrivileged: options.misc.allowPrivileged,
    eventTtlSeconds: options.misc.eventTtlMs / 1000,
  };
  const times = expressionMetrics(registry);
  const workers = buildWorkerPool(options, { kindOptions, times, log: logs.for('worker') });
  const { stores, encryption, resources } = await openResources(options, {
    sharing: link,
    workers,
    dialer: dialers.etcd,
    store,
    health,
    hooks,
    lifecycle,
    metrics: registry,
    clock,
    logs,
  });
  parts.served.set(resources);
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
  return { ...parts, kindOptions, times, workers, stores, encryption, resources, serverContext };
}

/** The server's own part in the life of objects. */
async function addOwnParts(parts: Awaited<ReturnType<typeof openStores>>) {
  const { options, logs, lifecycle, registry, times, stores, resources, serverContext } = parts;
  const certificates = prepareCertificates(options, Date.now(), logs.for('certificates'));
  const certificate = certificates.serving;
  const stopStore = await serveStore({ options, store: stores.main, certificate, log: logs.for('stores') });
  if (stopStore !== undefined) lifecycle.onDrained(stopStore);
  // What the server writes is looked at by plugins that are built later.
  const own = deferredRef<ObjectOperations>();
  const tokens = buildServiceAccountTokens(options, {
    signing: await buildTokenSigning(options, {
      certificates,
      metrics: registry,
      stopping: lifecycle.stopping,
      log: logs.for('service-account-tokens'),
    }),
    resources,
    operations: () => own.value,
    context: serverContext,
    metrics: registry,
    log: logs.for('service-account-tokens'),
  });
  const allocators = createServiceAllocators({
    resources,
    prefix: options.etcd.etcdPrefix,
    ranges: [options.serviceRanges.primary, options.serviceRanges.secondary].filter((range) => range !== undefined),
    nodePorts: options.misc.serviceNodePortRange,
    features: options.featureGates,
    context: serverContext,
    log: logs.for('service-repair'),
    metrics: registry,
  });
  const expressions = lazyExpressions(
    { compatibility: options.minCompatibleVersion, features: options.featureGates },
    times,
  );
  const access = deferredRef<{ authorization: Authorization; authentication: Authentication }>();
  addKinds(options, {
    resources,
    stores,
    allocators,
    tokens,
    expressions,
    access,
    context: serverContext,
    metrics: registry,
  });
  return { ...parts, certificates, own, tokens, allocators, expressions, access };
}

/** Authentication and authorization. */
function buildAccess(parts: Objects) {
  const { options, logs, lifecycle, registry, dialers, resources, expressions, certificates, tokens } = parts;
  const authorization = buildAuthorization(options, {
    resources,
    dialer: dialers.controlplane,
    expressions,
    metrics: registry,
    stopping: lifecycle.stopping,
    reloads: lifecycle.reloads,
    log: logs.for('authorization'),
  });
  const cacheMetrics = createTokenCacheMetrics(registry);
  const authentication = buildAuthentication(options, {
    apiAudiences: options.authentication.apiAudiences,
    clientCaFile: certificates.clientCaFile,
    serviceAccounts: tokens.authenticators,
    other: buildOtherTokens(options, {
      resources,
      dialers,
      metrics: registry,
      cacheMetrics,
      stopping: lifecycle.stopping,
      reloads: lifecycle.reloads,
      log: logs.for('authentication'),
    }),
    cacheMetrics,
    metrics: registry,
    log: logs.for('authentication'),
  });
  parts.access.set({ authorization, authentication });
  return { ...parts, authorization, authentication };
}

/** The path of a request behind the filters, and who else answers: extension servers and peers. */
function buildRequestPath(parts: Access) {
  const { options, logs, lifecycle, health, registry, hostname, dialers, resources, authorization, workers } = parts;
  const handlerRef = deferredRef<HttpHandler>();
  const loopback = createLoopback(() => handlerRef.value);
  const admission = buildAdmission(options, {
    resources,
    authorizer: authorization.authorizer,
    metrics: registry,
    policyCompiler: policiesWithWorkerFallback(parts.expressions, workers),
    dialers,
    itself: loopback.client,
    stopping: lifecycle.stopping,
    log: logs.for('admission'),
    workers,
  });
  const operationsAs = (user: UserInfo): ObjectOperations =>
    resources.operationsWith(internalWriteAdmission(resources, admission.reviewing, user));
  const admittedOperationsAs = (user: UserInfo): ObjectOperations =>
    resources.operationsWith(internalWriteAdmission(resources, admission.chain, user));
  const operations = operationsAs(LOOPBACK_USER);
  parts.own.set(operations);
  const nodes = buildNodeAccess(options.misc, {
    dialer: dialers.cluster,
    metrics: registry,
    onDrained: parts.onDrained,
  });
  const aggregation = buildAggregation(options, {
    resources,
    dialers,
    metrics: registry,
    stopping: lifecycle.stopping,
    reloads: lifecycle.reloads,
    log: logs.for('aggregation'),
  });
  const peers = buildPeers(options, {
    hostname,
    resources,
    dialers,
    health,
    lifecycle,
    metrics: registry,
    servesItself: ({ apiGroup, apiVersion, resource }) =>
      resources.find(apiGroup, apiVersion, resource) !== undefined ||
      aggregation.services.remote(`${apiVersion}.${apiGroup}`) !== undefined,
    log: logs.for('peers'),
  });
  const client = createServerClient({ operations, lookup: resources.lookup, context: parts.serverContext });
  const log = logs.for('storage-versions');
  return {
    ...parts,
    handlerRef,
    loopback,
    admission,
    operationsAs,
    admittedOperationsAs,
    operations,
    nodes,
    aggregation,
    peers,
    client,
    storageVersions: buildStorageVersions(options, { hostname, resources, client, log }),
    debug: createDebug({
      contentionProfiling: options.features.contentionProfiling,
      worker: parts.link && debuggedWorker(parts.link),
    }),
    debugFlags: debugFlags(verbositySetter(logs, parts.link?.channel)),
  };
}

function buildHandler(parts: RequestPath, { faults }: ServerParts): HttpHandler {
  const { options, logs, lifecycle, metrics, registry, resources, link } = parts;
  const openSeatPool = parts.seats?.open;
  const handler = buildRequestHandler({
    ...parts,
    openSeatPool,
    services: restServices(parts),
    authentication: parts.loopback.authenticator(parts.authentication),
    flowControl: buildFlowControl(options, {
      resources,
      metrics: registry,
      requests: metrics.requests,
      channel: link?.channel,
      openSeatPool,
      stopping: lifecycle.stopping,
      log: logs.for('flow-control'),
    }),
    morePaths: parts.encryption?.paths ?? [],
    faults: faults && faultInjection(faults, SERVER_USER.name),
  });
  parts.handlerRef.set(handler);
  return handler;
}

function restServices(parts: RequestPath): RestServices {
  const { options, resources, registry, lifecycle } = parts;
  return {
    admission: parts.admission.chain,
    authorizer: parts.authorization.authorizer,
    features: options.featureGates,
    kindOptions: parts.kindOptions,
    lookup: resources.lookup,
    operations: resources.operations,
    ownOperations: parts.operations,
    nodes: parts.nodes,
    mediaTypes: options.featureGates.enabled('CBORServingAndStorage') ? MEDIA_TYPES_WITH_CBOR : MEDIA_TYPES,
    converter: workerConverter(parts.workers),
    clock: parts.clock,
    random: Math.random,
    minWatchSeconds: options.generic.minRequestTimeout,
    watchBuffers: new WatchBuffers(),
    metrics: createRestMetrics(registry),
    maxBodyBytes: MAX_BODY_BYTES,
    shutdown: lifecycle.stopping,
  };
}

function addHooks(parts: RequestPath): void {
  const { options, lifecycle, registry, dialers, resources, loopback, tracer } = parts;
  addStartHooks(parts.hooks, {
    ...parts,
    metrics: registry,
    converterOf: conversionWebhooks({
      lookup: resources.lookup,
      dialers,
      itself: loopback.client,
      byEndpoints: options.misc.enableAggregatorRouting,
      metrics: registry,
      stopping: lifecycle.stopping,
      trace: tracer?.background,
    }),
  });
}
