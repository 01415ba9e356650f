// What the stores do, counted under the names dashboards know, whatever the store is.
import type { KeyValueStore } from '../../kv/kv.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { CounterSeries, GaugeSeries, HistogramSeries, MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { GroupResource } from '../../machinery/status.js';
import { every } from '../../lib/async/repeat.js';
import type { StorageMetrics, StoreOperation } from '../../storage/metrics.js';
import type { Stores } from './open-stores.js';

const REQUEST_SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const WAIT_SECONDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3];
const WHERE = ['group', 'resource'];

/** Of all resources: answers those of one. */
export function createStorageMetrics(registry: MetricRegistry): (resource: GroupResource) => StorageMetrics {
  const families = storageFamilies(registry);
  return (resource) => new ResourceMetrics(families, resource);
}

type Families = ReturnType<typeof storageFamilies>;

function storageFamilies(registry: MetricRegistry) {
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
    requestSeconds,
    requests,
    errors,
    lists,
    fetched,
    evaluated,
    returned,
    events,
    cacheEvents,
    dispatched,
    filled,
    consistent,
    cacheLists,
    cacheFetched,
    cacheReturned,
    initial,
    reached,
    waitSeconds,
  };
}

/** What each write observes is looked up once: a series is shown from its first observation on. */
class ResourceMetrics implements StorageMetrics {
  readonly #families: Families;
  readonly #group: string;
  readonly #resource: string;
  readonly #requests = new Map<StoreOperation, { readonly seconds: HistogramSeries; readonly count: CounterSeries }>();
  #received: CounterSeries | undefined;
  #cacheReceived: readonly CounterSeries[] | undefined;
  #reached: GaugeSeries | undefined;

  constructor(families: Families, { group, resource }: GroupResource) {
    this.#families = families;
    this.#group = group;
    this.#resource = resource;
  }

  // hot: every write
  request(operation: StoreOperation, seconds: number, failed: boolean): void {
    const series = this.#requests.get(operation) ?? this.#addRequests(operation);
    series.seconds.observe(seconds);
    series.count.inc();
    if (failed) this.#families.errors.with(operation, this.#group, this.#resource).inc();
  }

  #addRequests(operation: StoreOperation): { readonly seconds: HistogramSeries; readonly count: CounterSeries } {
    const { requestSeconds, requests } = this.#families;
    const series = {
      seconds: requestSeconds.with(operation, this.#group, this.#resource),
      count: requests.with(operation, this.#group, this.#resource),
    };
    this.#requests.set(operation, series);
    return series;
  }

  listed(fetchedCount: number, evaluatedCount: number, returnedCount: number): void {
    const { lists, fetched, evaluated, returned } = this.#families;
    lists.with(this.#group, this.#resource).inc();
    fetched.with(this.#group, this.#resource).inc(fetchedCount);
    evaluated.with(this.#group, this.#resource).inc(evaluatedCount);
    returned.with(this.#group, this.#resource).inc(returnedCount);
  }

  // hot: every write of what is not cached, for each watch
  received(count: number): void {
    this.#received ??= this.#families.events.with(this.#group, this.#resource);
    this.#received.inc(count);
  }

  // hot: every write
  cacheReceived(count: number): void {
    const { events, cacheEvents, dispatched } = this.#families;
    this.#cacheReceived ??= [events, cacheEvents, dispatched].map((one) => one.with(this.#group, this.#resource));
    for (const series of this.#cacheReceived) series.inc(count);
  }

  // hot: every write
  reached(revision: number): void {
    this.#reached ??= this.#families.reached.with(this.#group, this.#resource);
    this.#reached.set(revision);
  }

  filled(): void {
    this.#families.filled.with(this.#group, this.#resource).inc();
  }

  waited(seconds: number): void {
    this.#families.waitSeconds.with(this.#group, this.#resource).observe(seconds);
  }

  cacheListed(index: string, fetchedCount: number, returnedCount: number): void {
    const { cacheLists, cacheFetched, cacheReturned } = this.#families;
    cacheLists.with(this.#group, this.#resource, index).inc();
    cacheFetched.with(this.#group, this.#resource, index).inc(fetchedCount);
    cacheReturned.with(this.#group, this.#resource).inc(returnedCount);
  }

  watchStarted(events: number): void {
    this.#families.initial.with(this.#group, this.#resource).inc(events);
  }

  consistentRead(success: boolean, fallback: boolean): void {
    this.#families.consistent.with(String(success), String(fallback), this.#group, this.#resource).inc();
  }
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
