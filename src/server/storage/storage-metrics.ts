// What the stores do, counted under the names dashboards know, whatever the store is.
import type { KeyValueStore } from '../../kv/kv.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { every } from '../../lib/async/repeat.js';
import type { StorageMetrics } from '../../storage/metrics.js';
import type { Stores } from './open-stores.js';

const REQUEST_SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const WAIT_SECONDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3];
const WHERE = ['group', 'resource'];

export function createStorageMetrics(registry: MetricRegistry): StorageMetrics {
  const counter = (name: string, help: string, labels: string[] = WHERE) =>
    registry.counter({ name, help, labels, stability: 'ALPHA' });
  const requestSeconds = registry.histogram({
    name: 'etcd_request_duration_seconds',
    help: 'How long calls to the store took.',
    labels: ['operation', ...WHERE],
    buckets: REQUEST_SECONDS,
    stability: 'ALPHA',
  });
  const requests = counter('etcd_requests_total', 'Calls to the store.', ['operation', ...WHERE]);
  const errors = counter('etcd_request_errors_total', 'Calls to the store that failed.', ['operation', ...WHERE]);
  const lists = counter('apiserver_storage_list_total', 'Lists read from the store.');
  const fetched = counter('apiserver_storage_list_fetched_objects_total', 'Objects read from the store for lists.');
  const evaluated = counter('apiserver_storage_list_evaluated_objects_total', 'Objects looked at for lists.');
  const returned = counter('apiserver_storage_list_returned_objects_total', 'Objects that lists answered.');
  const events = counter('apiserver_storage_events_received_total', 'Events that came from the store.');
  const cacheEvents = counter('apiserver_watch_cache_events_received_total', 'Events that reached the watch cache.');
  const dispatched = counter('apiserver_watch_cache_events_dispatched_total', 'Events that were handed to watches.');
  const filled = counter('apiserver_watch_cache_initializations_total', 'Times the watch cache was filled.');
  const consistent = counter('apiserver_watch_cache_consistent_read_total', 'Consistent reads from the watch cache.', [
    'success',
    'fallback',
    ...WHERE,
  ]);
  const cacheLists = counter('apiserver_cache_list_total', 'Lists answered from the watch cache.', [...WHERE, 'index']);
  const cacheFetched = counter('apiserver_cache_list_fetched_objects_total', 'Objects that lists were picked out of.', [
    ...WHERE,
    'index',
  ]);
  const cacheReturned = counter('apiserver_cache_list_returned_objects_total', 'Objects answered from the cache.');
  const initial = counter('apiserver_init_events_total', 'Events of the watch cache that watches began with.');
  const reached = registry.gauge({
    name: 'apiserver_watch_cache_resource_version',
    across: 'max',
    help: 'The version the watch cache has reached.',
    labels: WHERE,
    stability: 'ALPHA',
  });
  const waitSeconds = registry.histogram({
    name: 'apiserver_watch_cache_read_wait_seconds',
    help: 'How long reads waited for the watch cache to be fresh.',
    labels: WHERE,
    buckets: WAIT_SECONDS,
    stability: 'ALPHA',
  });
  return {
    request(operation, { group, resource }, seconds, failed) {
      requestSeconds.with(operation, group, resource).observe(seconds);
      requests.with(operation, group, resource).inc();
      if (failed) errors.with(operation, group, resource).inc();
    },
    listed({ group, resource }, fetchedCount, evaluatedCount, returnedCount) {
      lists.with(group, resource).inc();
      fetched.with(group, resource).inc(fetchedCount);
      evaluated.with(group, resource).inc(evaluatedCount);
      returned.with(group, resource).inc(returnedCount);
    },
    received: ({ group, resource }, count) => events.with(group, resource).inc(count),
    cacheReceived({ group, resource }, count) {
      events.with(group, resource).inc(count);
      cacheEvents.with(group, resource).inc(count);
      dispatched.with(group, resource).inc(count);
    },
    cacheListed({ group, resource }, index, fetchedCount, returnedCount) {
      cacheLists.with(group, resource, index).inc();
      cacheFetched.with(group, resource, index).inc(fetchedCount);
      cacheReturned.with(group, resource).inc(returnedCount);
    },
    watchStarted: ({ group, resource }, count) => initial.with(group, resource).inc(count),
    filled: ({ group, resource }) => filled.with(group, resource).inc(),
    reached: ({ group, resource }, revision) => reached.with(group, resource).set(revision),
    waited: ({ group, resource }, seconds) => waitSeconds.with(group, resource).observe(seconds),
    consistentRead: ({ group, resource }, success, fallback) =>
      consistent.with(String(success), String(fallback), group, resource).inc(),
  };
}

/** `--etcd-db-metric-poll-interval`: 0 disables it. */
export function pollStorageSize(
  registry: MetricRegistry,
  { stores, everyMs, log }: { readonly stores: Stores; readonly everyMs: number; readonly log: Logger },
  signal: AbortSignal,
): void {
  const bytes = registry.gauge({
    name: 'apiserver_storage_size_bytes',
    across: 'max',
    help: 'The size of the store.',
    labels: ['storage_cluster_id'],
    stability: 'STABLE',
  });
  const measure = async (): Promise<void> => {
    for (const [i, store] of [...stores.all.values()].entries()) await measureOne(store, `etcd-${i}`);
  };
  const measureOne = async (store: KeyValueStore, name: string): Promise<void> => {
    try {
      bytes.with(name).set(await store.sizeBytes());
    } catch (error) {
      log.error(error, 'Could not measure the store', { store: name });
    }
  };
  if (everyMs > 0) every(measure, { everyMs, signal, log: log });
}
