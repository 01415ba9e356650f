// What is stored: the stores themselves, what seals their values, and the resources kept in them.
import type { Aside } from '../lib/aside.js';
import { monotonicClock } from '../lib/clock.js';
import type { Logs } from '../lib/log.js';
import type { MetricRegistry } from '../lib/metrics.js';
import { apiEnablement } from '../machinery/api-enablement.js';
import type { Options } from '../options/options.js';
import type { Dialer } from '../outbound/dialer.js';
import { isCached } from '../storage/cached-resources.js';
import { createResourceStore } from '../storage/create-store.js';
import { EncodedBytes } from '../storage/encoded-bytes.js';
import { HistoryBudget } from '../storage/history-budget.js';
import { RecentBytes } from '../storage/recent-bytes.js';
import { buildEncryption } from './encryption.js';
import { giveBackWhenIdle, processParts } from './give-back.js';
import type { Health } from './health.js';
import type { Lifecycle } from './lifecycle.js';
import { openStores, type Stores } from './open-stores.js';
import type { PostStartHooks } from './post-start-hooks.js';
import { Resources } from './resources.js';
import { createStorageMetrics, pollStorageSize } from './storage-metrics.js';
import { addStoreChecks } from './store-checks.js';
import { storedForm } from './stored-form.js';

export interface OpenResourcesOptions {
  /** The way to etcd. */
  readonly dialer: Dialer;
  readonly health: Health;
  readonly hooks: PostStartHooks;
  readonly lifecycle: Lifecycle;
  readonly metrics: MetricRegistry;
  readonly clock: () => Date;
  readonly logs: Logs;
  readonly aside: Aside;
}

export interface OpenResources {
  readonly stores: Stores;
  /** Absent where values lie as they are. */
  readonly encryption: Awaited<ReturnType<typeof buildEncryption>>;
  readonly resources: Resources;
}

export async function openResources(
  options: Options,
  { dialer, health, hooks, lifecycle, metrics, clock, logs, aside }: OpenResourcesOptions,
): Promise<OpenResources> {
  const { etcd, featureGates } = options;
  const stores = await openStores(options, dialer, logs.for('stores'));
  lifecycle.onDrained(() => stores.close());
  addStoreChecks(options, stores, health);
  const encryption = await buildEncryption(options, {
    health,
    hooks,
    lifecycle,
    metrics,
    log: logs.for('encryption'),
  });
  const storageMetrics = createStorageMetrics(metrics);
  const recent = new RecentBytes();
  const encoded = new EncodedBytes();
  const historyBudget = new HistoryBudget();
  const resources = new Resources({
    prefix: etcd.etcdPrefix,
    openStore: (storeOptions) =>
      createResourceStore({
        kv: stores.of(storeOptions.resource),
        form: storedForm(stores.of(storeOptions.resource), storeOptions, {
          mediaType: etcd.storageMediaType,
          cbor: featureGates.enabled('CBORServingAndStorage'),
        }),
        options: storeOptions,
        cache: isCached(storeOptions.resource, etcd.watchCache, etcd.watchCacheSizes),
        log: (message) => logs.for('storage').info(message),
        metrics: storageMetrics,
        recent,
        encoded,
        historyBudget,
        transformer: encryption?.transformer(storeOptions, stores.of(storeOptions.resource)),
      }),
    unsafeDeletion: featureGates.enabled('AllowUnsafeMalformedObjectDeletion'),
    clock,
    garbageCollection: etcd.enableGarbageCollector,
    deleteCollectionWorkers: etcd.deleteCollectionWorkers,
    enablement: apiEnablement(options.apiEnablement.runtimeConfig, options.emulatedApis),
    aside,
  });
  lifecycle.onDrained(() => resources.close());
  const sizePoll = { stores, everyMs: etcd.etcdDbMetricPollIntervalMs, log: logs.for('storage') };
  pollStorageSize(metrics, sizePoll, lifecycle.stopping);
  giveBackWhenIdle({ clock: monotonicClock, stopping: lifecycle.stopping, ...processParts() });
  return { stores, encryption, resources };
}
