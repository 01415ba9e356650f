// What is stored: the stores themselves, what encrypts their values, and the resources kept in them.
import { every } from '../../lib/async/repeat.js';
import type { WorkerPool } from '../../lib/async/worker-pool.js';
import type { KeyValueStore } from '../../kv/kv.js';
import type { Logs } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { apiEnablement } from '../../machinery/api-enablement.js';
import type { Options } from '../../options/options.js';
import type { Dialer } from '../../outbound/dialer.js';
import { isCached } from '../../storage/cached-resources.js';
import { createResourceStore } from '../../storage/create-store.js';
import { EncodedBytes } from '../../storage/encoded-bytes.js';
import { HistoryBudget } from '../../storage/history-budget.js';
import { Recent } from '../../storage/recent.js';
import { buildEncryption } from './encryption.js';
import type { Health } from '../lifecycle/health.js';
import type { Lifecycle } from '../lifecycle/lifecycle.js';
import { openStores, type OpenStoresParts, type Stores } from './open-stores.js';
import type { PostStartHooks } from '../lifecycle/post-start-hooks.js';
import { nameSuffixes } from '../kinds/name-suffix.js';
import { Resources } from '../kinds/resources.js';
import { createStorageMetrics, pollStorageSize } from './storage-metrics.js';
import { addStoreChecks } from './store-checks.js';
import { storedForm } from './stored-form.js';

/** Other forms of objects stay at least so long after they were read. */
const RELEASE_UNREAD_MS = 5 * 60_000;

export interface OpenResourcesOptions {
  /** The way to etcd. */
  readonly dialer: Dialer;
  /** Opened already, in place of the embedded one. */
  readonly store?: KeyValueStore | undefined;
  readonly sharing?: OpenStoresParts['sharing'];
  readonly health: Health;
  readonly hooks: PostStartHooks;
  readonly lifecycle: Lifecycle;
  readonly metrics: MetricRegistry;
  readonly clock: () => Date;
  readonly logs: Logs;
  readonly workers: WorkerPool;
}

export interface OpenResources {
  readonly stores: Stores;
  /** Absent where values lie as they are. */
  readonly encryption: Awaited<ReturnType<typeof buildEncryption>>;
  readonly resources: Resources;
}

export async function openResources(
  options: Options,
  { dialer, store, sharing, health, hooks, lifecycle, metrics, clock, logs, workers }: OpenResourcesOptions,
): Promise<OpenResources> {
  const { etcd, featureGates } = options;
  const stores = await openStores(options, { dialer, opened: store, sharing, log: logs.for('stores') });
  lifecycle.onDrained(() => stores.close());
  addStoreChecks(options, stores, health);
  const encryption = await buildEncryption(options, {
    health,
    hooks,
    lifecycle,
    metrics,
    log: logs.for('encryption'),
  });
  const metricsOf = createStorageMetrics(metrics);
  const recent = new Recent();
  const encoded = new EncodedBytes();
  const releaseUnread = async (): Promise<void> => encoded.releaseUnread();
  every(releaseUnread, { everyMs: RELEASE_UNREAD_MS, signal: lifecycle.stopping, log: logs.for('storage') });
  const historyBudget = new HistoryBudget();
  const resources = new Resources({
    prefix: etcd.etcdPrefix,
    openStore: (storeOptions) =>
      createResourceStore({
        kv: stores.of(storeOptions.resource),
        form: storedForm(stores.isEmbedded(stores.of(storeOptions.resource)), storeOptions, {
          mediaType: etcd.storageMediaType,
          cbor: featureGates.enabled('CBORServingAndStorage'),
        }),
        options: storeOptions,
        cache: isCached(storeOptions.resource, etcd.watchCache, etcd.watchCacheSizes),
        log: logs.for('storage'),
        metrics: metricsOf(storeOptions.resource),
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
    workers,
    ...(sharing !== undefined && { nameSuffix: nameSuffixes(sharing) }),
  });
  lifecycle.onDrained(() => resources.close());
  const sizePoll = { stores, everyMs: etcd.etcdDbMetricPollIntervalMs, log: logs.for('storage') };
  pollStorageSize(metrics, sizePoll, lifecycle.stopping);
  return { stores, encryption, resources };
}
