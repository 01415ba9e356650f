// What verbs record of bodies and of watches, under the names dashboards know.
import { exponentialBuckets, type HistogramSeries, type MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { GroupResource } from '../../machinery/status.js';
import type { Endpoint } from './endpoint.js';

export type BodyVerb = 'create' | 'update' | 'patch' | 'delete' | 'delete_collection';

/** Of events that were sent together: how many, and their bytes. */
export type ObserveEvents = (count: number, bytes: number) => void;

export interface RestMetrics {
  body(resource: GroupResource, verb: BodyVerb, bytes: number): void;
  events(endpoint: Endpoint): ObserveEvents;
  /** A watch that began with all there is has come to its end. */
  initialEvents(endpoint: Endpoint, scope: string, seconds: number): void;
}

const SMALLEST_BODY_BYTES = 50_000;
const BODY_STEP_BYTES = 100_000;
const BODY_BUCKETS = Array.from({ length: 31 }, (_, i) => SMALLEST_BODY_BYTES + i * BODY_STEP_BYTES);
const LIST_SECONDS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60];
const WHICH = ['group', 'version', 'resource'];

export function createRestMetrics(registry: MetricRegistry): RestMetrics {
  const bodies = registry.histogram({
    name: 'apiserver_request_body_size_bytes',
    help: 'Bytes of the bodies that were sent.',
    labels: ['group', 'resource', 'verb'],
    buckets: BODY_BUCKETS,
    stability: 'ALPHA',
  });
  const counts = registry.counter({
    name: 'apiserver_watch_events_total',
    help: 'Events that were sent to those who watch.',
    labels: WHICH,
    stability: 'ALPHA',
  });
  const sizes = registry.histogram({
    name: 'apiserver_watch_events_sizes',
    help: 'Bytes of such events; those sent together count by their average.',
    labels: WHICH,
    buckets: exponentialBuckets(1024, 2, 8),
    stability: 'ALPHA',
  });
  const lists = registry.histogram({
    name: 'apiserver_watch_list_duration_seconds',
    help: 'Seconds until a watch has sent everything that existed when it began.',
    labels: [...WHICH, 'scope'],
    buckets: LIST_SECONDS,
    stability: 'ALPHA',
  });
  const bodiesOf = new WeakMap<GroupResource, Map<BodyVerb, HistogramSeries>>();
  const eventsOf = new WeakMap<Endpoint, ObserveEvents>();
  const which = ({ resource, kind }: Endpoint) => [resource.group, kind.version, resource.resource] as const;
  return {
    // hot: every write
    body(resource, verb, bytes) {
      let verbs = bodiesOf.get(resource);
      if (verbs === undefined) bodiesOf.set(resource, (verbs = new Map()));
      let series = verbs.get(verb);
      if (series === undefined) verbs.set(verb, (series = bodies.with(resource.group, resource.resource, verb)));
      series.observe(bytes);
    },
    events(endpoint) {
      let observe = eventsOf.get(endpoint);
      if (observe === undefined) {
        const [total, size] = [counts.with(...which(endpoint)), sizes.with(...which(endpoint))];
        observe = (count, bytes) => {
          total.inc(count);
          size.observe(bytes / count, count);
        };
        eventsOf.set(endpoint, observe);
      }
      return observe;
    },
    initialEvents: (endpoint, scope, seconds) => lists.with(...which(endpoint), scope).observe(seconds),
  };
}
