// What is stored: the stores, the kinds, and the server's own part in the life of objects.
import type { Authentication } from '../authn/create-authenticator.js';
import type { KeyValueStore } from '../kv/kv.js';
import type { LifeContext, ObjectOperations } from '../registry/kind.js';
import type { SupervisorLink } from '../workers/supervisor-link.js';
import { addKinds } from './add-kinds.js';
import { buildWorkerPool } from './worker/build-worker-pool.js';
import type { Authorization } from './access/authorization.js';
import { expressionMetrics, lazyExpressions } from './kinds/expressions.js';
import { deferredRef } from './lifecycle/deferred-ref.js';
import { SERVER_USER } from './outgoing/loopback.js';
import { openResources } from './storage/open-resources.js';
import { serveStore } from './storage/serve-store.js';
import { prepareCertificates } from './listener/prepare-certificates.js';
import { buildServiceAccountTokens } from './access/service-account-tokens.js';
import { createServiceAllocators } from './kinds/service-allocators.js';
import { buildTokenSigning } from './access/token-signing.js';
import type { Core } from './build-core.js';

export type Objects = Awaited<ReturnType<typeof buildObjects>>;

interface GivenStore {
  /** Opened already, in place of the embedded one. */
  readonly store?: KeyValueStore;
  readonly link?: SupervisorLink | undefined;
}

export async function buildObjects(core: Core, given: GivenStore) {
  return addOwnParts(await openStores(core, given));
}

/** What is stored. */
async function openStores(parts: Core, { store, link }: GivenStore) {
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
