// What begins once the port is open, each under the name health checks know.
import type { Logger } from '../lib/telemetry/log.js';
import crypto from 'node:crypto';
import { createAggregation } from '../aggregation/hooks.js';
import { ensureApiService } from '../bootstrap/api-service.js';
import {
  type EndpointReconciler,
  leaseReconciler,
  masterCountReconciler,
  noReconciler,
} from '../bootstrap/endpoint-reconcilers.js';
import { ELECTION_LEASE, startLeaderElection } from '../bootstrap/leader-election/controller.js';
import { CANDIDATES, LEASES } from '../bootstrap/leader-election/election-step.js';
import { leadWhileHoldingLease } from '../bootstrap/leader-election/lease-lock.js';
import { createPresence } from '../bootstrap/presence.js';
import { createServerEndpoints } from '../bootstrap/server-endpoints.js';
import type { ServerClient } from '../registry/server-client.js';
import { FLOW_CONTROL_GROUP } from '../bootstrap/flow-control/default-configuration.js';
import { markDanglingFlowSchemas } from '../bootstrap/flow-control/mark-dangling.js';
import { bootstrapHooks } from '../bootstrap/hooks.js';
import type { ExpressionChecker } from '../cel/expression-check.js';
import { startCrdController, type StartedCrdController } from '../crd/controller.js';
import { DEFINITIONS } from '../crd/definition-writer.js';
import { systemClock } from '../lib/async/clock.js';
import { cidrText } from '../lib/values/ip-address.js';
import type { Logs } from '../lib/telemetry/log.js';
import type { MetricRegistry } from '../lib/telemetry/metrics.js';
import type { Options } from '../options/options.js';
import { workError } from '../options/startup-checks.js';
import type { UserInfo } from '../machinery/user.js';
import type { LifeContext, ObjectOperations } from '../registry/kind.js';
import type { Authorization } from './access/authorization.js';
import type { conversionWebhooks } from './outgoing/conversion-webhooks.js';
import type { WiredAggregation } from './outgoing/aggregation.js';
import { startControllers } from './controllers.js';
import type { Health } from './lifecycle/health.js';
import type { Lifecycle } from './lifecycle/lifecycle.js';
import { createMasterLeases } from './storage/master-leases.js';
import { objectCountHook } from './storage/object-counts.js';
import { peerAddress, type WiredPeers } from './outgoing/peers.js';
import type { PostStartHook, PostStartHooks } from './lifecycle/post-start-hooks.js';
import type { PreparedCertificates } from './listener/prepare-certificates.js';
import type { Resources } from './kinds/resources.js';
import type { ServicePools } from './kinds/service-allocators.js';
import { storageReadinessHook, untilReady } from './storage/storage-readiness.js';
import type { WiredStorageVersions } from './kinds/storage-versions.js';
import { trustOf } from './access/trust.js';

type StartHook = (signal: AbortSignal) => Promise<void>;

export interface StartParts {
  readonly options: Options;
  readonly expressions: ExpressionChecker;
  readonly logs: Logs;
  readonly lifecycle: Lifecycle;
  readonly health: Health;
  readonly resources: Resources;
  readonly metrics: MetricRegistry;
  readonly certificates: PreparedCertificates;
  readonly authorization: Authorization;
  readonly allocators: ServicePools;
  readonly aggregation: WiredAggregation;
  /** Converts custom resources by the webhooks of their CRDs. */
  readonly converterOf: ReturnType<typeof conversionWebhooks>;
  /** The server's own writes, about which webhooks and policies have a say. */
  readonly operations: ObjectOperations;
  /** Writes on behalf of another user than the server, reviewed by webhooks and policies. */
  readonly operationsAs: (user: UserInfo) => ObjectOperations;
  /** Writes on behalf of another user, judged by every admission plugin. */
  readonly admittedOperationsAs: (user: UserInfo) => ObjectOperations;
  readonly serverContext: () => LifeContext;
  readonly hostname: string;
  readonly client: ServerClient;
  readonly peers: WiredPeers | undefined;
  readonly storageVersions: WiredStorageVersions | undefined;
}

export function addStartHooks(hooks: PostStartHooks, parts: StartParts): void {
  const { options, resources, client } = parts;
  const log = parts.logs.for('bootstrap');
  const { primary, secondary } = options.serviceRanges;
  const namespaces = bootstrapHooks({
    client,
    features: options.featureGates,
    trust: trustOf(options, parts.certificates.clientCaFile, log),
    serviceCidrs: [primary, secondary].filter((range) => range !== undefined).map(cidrText),
    hostname: parts.hostname,
    peerAddress: peerAddress(options),
    runId: crypto.randomUUID(),
    now: () => new Date(),
    log,
  });
  for (const hook of definitionsHooks(parts)) hooks.add(hook);
  for (const hook of namespaces) hooks.addOnce(hook);
  if (options.featureGates.enabled('WatchCacheInitializationPostStartHook')) {
    hooks.add(
      storageReadinessHook({
        stores: () => resources.builtInStores(),
        timeoutMs: options.generic.storageInitializationTimeoutMs,
        log: parts.logs.for('storage-readiness'),
      }),
    );
  }
  const countEveryMs = options.etcd.etcdCountMetricPollPeriodMs;
  if (countEveryMs > 0) {
    hooks.add(
      objectCountHook({
        sizes: options.featureGates.enabled('SizeBasedListCostEstimate'),
        metrics: parts.metrics,
        stored: () => resources.stored(),
        everyMs: countEveryMs,
        log: parts.logs.for('storage'),
      }),
    );
  }
  if (options.features.enablePriorityAndFairness) {
    hooks.addOnce({ name: 'priority-and-fairness-config-consumer', run: flowSchemasHook(parts, client) });
  }
  // The filter has been at work since the server was built.
  const filter = options.features.enablePriorityAndFairness ? 'priority-and-fairness-filter' : 'max-in-flight-filter';
  hooks.add({ name: filter, run: () => undefined });
  hooks.addOnce(parts.allocators.repair);
  if (options.featureGates.enabled('CoordinatedLeaderElection')) {
    hooks.addOnce({
      name: 'start-kube-apiserver-coordinated-leader-election-controller',
      run: electionHook(parts, client),
    });
  }
  addInformers(hooks, parts);
  hooks.addOnce({ name: 'bootstrap-controller', run: apiServiceHook(parts, client, log) });
  const { proxyClientCertFile, proxyClientKeyFile } = options.misc;
  if (proxyClientCertFile !== '' && proxyClientKeyFile !== '') {
    // Its files are followed since the server was built.
    hooks.add({ name: 'aggregator-reload-proxy-client-cert', run: () => undefined });
  }
  addAggregation(hooks, parts, client);
  for (const hook of parts.peers?.hooks ?? []) hooks.add(hook);
  if (parts.peers !== undefined) hooks.addOnce(parts.peers.presence);
  if (parts.storageVersions !== undefined) hooks.add(parts.storageVersions.hook);
  if (options.controllers.length > 0) hooks.addOnce({ name: 'start-controllers', run: controllersHook(parts) });
}

/** What all requests are judged by was begun to be followed as the server was built; it is used once it is known. */
function addInformers(hooks: PostStartHooks, { authorization, resources, lifecycle }: StartParts): void {
  const { synced, unsynced } = authorization;
  const secrets = secretsKnown(resources, lifecycle.stopping);
  hooks.add({ name: 'generic-apiserver-start-informers', run: () => undefined });
  hooks.add({ name: 'start-apiserver-admission-initializer', run: () => synced });
  hooks.addReadyCheck({
    name: 'informer-sync',
    check() {
      const kinds = [...unsynced(), ...(secrets() ? [] : ['Secret'])].map((kind) => `*v1.${kind}`);
      return kinds.length === 0 ? undefined : `${kinds.length} informers not started yet: [${kinds.join(' ')}]`;
    },
  });
}

/** Tokens of old are judged by secrets: a server that cannot read them is not ready. */
function secretsKnown(resources: Resources, signal: AbortSignal): () => boolean {
  const store = resources.builtInStores().find(({ options: { resource } }) => resource.resource === 'secrets');
  let known = store === undefined;
  if (store !== undefined) void untilReady(store, signal).then(() => (known = true));
  return () => known;
}

/** Serves what custom resource definitions define. Ready once those that were there are served. */
function definitionsHooks({
  resources,
  operations,
  serverContext,
  expressions,
  converterOf,
  logs,
}: StartParts): PostStartHook[] {
  const registry = resources.registry(DEFINITIONS);
  if (registry === undefined) return [];
  let started: StartedCrdController | undefined;
  const begin = (signal: AbortSignal): StartedCrdController =>
    (started ??= startCrdController({
      store: registry.store,
      operations,
      context: serverContext,
      serve: (kind) => resources.serveCustom(kind),
      expressions,
      converterOf,
      workers: registry.workers,
      signal,
      log: logs.for('apiextensions'),
    }));
  return [
    { name: 'start-apiextensions-informers', run: (signal) => void begin(signal) },
    { name: 'start-apiextensions-controllers', run: (signal) => begin(signal).synced },
    { name: 'crd-informer-synced', run: (signal) => begin(signal).served },
  ];
}

function addAggregation(
  hooks: PostStartHooks,
  { resources, metrics, logs, aggregation: { services, servers, remote, openApi } }: StartParts,
  client: ServerClient,
): void {
  const aggregation = createAggregation({
    client,
    lookup: resources.lookup,
    storeOf: (resource) => resources.store(resource),
    // Read before CRDs are served: only the built-in kinds.
    builtIn: Array.from(resources.all(), ({ kind }) => kind),
    metrics,
    clock: systemClock,
    services,
    servers,
    remote,
    openApi,
    log: logs.for('aggregation'),
  });
  for (const hook of aggregation.hooks) hooks.add(hook);
  for (const hook of aggregation.writers) hooks.addOnce(hook);
  hooks.addCheck({ name: 'autoregister-completion', check: () => aggregation.completion() });
}

function flowSchemasHook({ resources, logs }: StartParts, client: ServerClient): StartHook {
  const schemas = resources.store({ group: FLOW_CONTROL_GROUP, resource: 'flowschemas' });
  const levels = resources.store({ group: FLOW_CONTROL_GROUP, resource: 'prioritylevelconfigurations' });
  const log = logs.for('flow-control');
  return (signal) => markDanglingFlowSchemas({ client, schemas, levels, clock: systemClock, signal, log });
}

function controllersHook(parts: StartParts): StartHook {
  const { options, resources, operationsAs, admittedOperationsAs, certificates, serverContext: context } = parts;
  const log = parts.logs.for('controllers');
  const names = options.controllers;
  return (signal) =>
    startControllers({ names, resources, operationsAs, admittedOperationsAs, certificates, context, log }, signal);
}

/** Elects leaders among lease candidates, while this server is itself the one elected to do so. */
function electionHook({ options, hostname, resources, lifecycle, logs }: StartParts, client: ServerClient): StartHook {
  const { misc } = options;
  const log = logs.for('leader-election');
  return (signal) => {
    const ended = leadWhileHoldingLease({
      client,
      ...ELECTION_LEASE,
      identity: `${hostname}_${crypto.randomUUID()}`,
      leaseDurationMs: misc.coordinatedLeadershipLeaseDurationMs,
      renewDeadlineMs: misc.coordinatedLeadershipRenewDeadlineMs,
      retryPeriodMs: misc.coordinatedLeadershipRetryPeriodMs,
      lead: (leading) =>
        startLeaderElection({
          client,
          leases: resources.store(LEASES),
          candidates: resources.store(CANDIDATES),
          clock: systemClock,
          signal: leading,
          log,
        }),
      signal,
      log,
    });
    // The lease is released before the stores close.
    lifecycle.onDrained(() => ended);
    return Promise.resolve();
  };
}

/** Keeps the API's own service, and in it the addresses of the servers that are alive. */
function apiServiceHook(
  { options, resources, lifecycle, health }: StartParts,
  client: ServerClient,
  log: Logger,
): StartHook {
  const { misc, secureServing } = options;
  const mistake = workError(options);
  if (mistake !== undefined) return () => Promise.reject(new Error(mistake));
  const presence = createPresence({
    what: 'the service of the API',
    ensure: () =>
      ensureApiService({
        client,
        clusterIp: options.serviceRanges.apiServiceIp,
        nodePort: misc.kubernetesServiceNodePort,
        securePort: secureServing.securePort,
      }),
    reconciler: endpointReconciler(options, resources, client),
    isReady: () => health.ready(),
    log,
  });
  return (signal) => {
    lifecycle.onShutdown('stop-kubernetes-service-controller', () => presence.stop());
    return presence.start(signal);
  };
}

function endpointReconciler(
  { misc, generic, etcd, secureServing }: Options,
  resources: Resources,
  client: ServerClient,
): EndpointReconciler {
  const endpoints = createServerEndpoints(client, secureServing.securePort);
  const { advertiseAddress } = generic;
  switch (misc.endpointReconcilerType) {
    case 'none':
      return noReconciler;
    case 'master-count':
      return masterCountReconciler(endpoints, advertiseAddress, misc.apiserverCount);
    default:
      return leaseReconciler(endpoints, createMasterLeases(resources, etcd.etcdPrefix, advertiseAddress));
  }
}
