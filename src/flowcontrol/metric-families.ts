// The families of flow control: names, labels and bounds, as dashboards know them.
import type { MetricRegistry } from '../lib/telemetry/metrics.js';

const LEVEL = ['priority_level'];
const LEVEL_AND_SCHEMA = ['priority_level', 'flow_schema'];
const TIMES = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const RATIOS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const REQUEST_RATIOS = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1];
const READ_WRITE_RATIOS = [0, 0.001, 0.01, ...RATIOS.slice(1)];
const DEMAND_RATIOS = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6];

export type FlowControlFamilies = ReturnType<typeof flowControlFamilies>;

export function flowControlFamilies(registry: MetricRegistry) {
  const make = new FamilyMaker(registry);
  return { ...requestFamilies(make), ...seatFamilies(make), ...meterFamilies(make), ...utilizationFamilies(make) };
}

type Stability = 'ALPHA' | 'BETA';

class FamilyMaker {
  constructor(private readonly registry: MetricRegistry) {}

  gauge(name: string, help: string, labels: readonly string[], stability: Stability = 'ALPHA') {
    return this.registry.gauge({ name: fullName(name), help, labels, stability });
  }

  /** Of all processes of a server, or of no use as a sum. */
  common(name: string, help: string, labels: readonly string[], stability: Stability = 'ALPHA') {
    return this.registry.gauge({ name: fullName(name), help, labels, stability, across: 'max' });
  }

  counter(name: string, help: string, labels: readonly string[], stability: Stability = 'ALPHA') {
    return this.registry.counter({ name: fullName(name), help, labels, stability });
  }

  histogram(name: string, help: string, { labels, buckets, stability = 'ALPHA' }: HistogramShape) {
    return this.registry.histogram({ name: fullName(name), help, labels, stability, buckets });
  }
}

interface HistogramShape {
  readonly labels: readonly string[];
  readonly buckets: readonly number[];
  readonly stability?: Stability;
}

const fullName = (name: string): string => `apiserver_flowcontrol_${name}`;

/** Of requests, by the schema that they match. */
const requestFamilies = (make: FamilyMaker) => ({
  rejected: make.counter(
    'rejected_requests_total',
    'Requests that were refused, by reason.',
    [...LEVEL_AND_SCHEMA, 'reason'],
    'BETA',
  ),
  dispatched: make.counter('dispatched_requests_total', 'Requests that were let in.', LEVEL_AND_SCHEMA, 'BETA'),
  inQueueRequests: make.gauge(
    'current_inqueue_requests',
    'Requests that wait for seats now.',
    LEVEL_AND_SCHEMA,
    'BETA',
  ),
  inQueueSeats: make.gauge('current_inqueue_seats', 'Seats that waiting requests want.', LEVEL_AND_SCHEMA),
  executingRequests: make.gauge(
    'current_executing_requests',
    'Requests under way; watches only while they begin.',
    LEVEL_AND_SCHEMA,
    'BETA',
  ),
  executingSeats: make.gauge('current_executing_seats', 'Seats that are taken.', LEVEL_AND_SCHEMA, 'BETA'),
  queueLength: make.histogram(
    'request_queue_length_after_enqueue',
    'Length of its queue, as each request sees it once it is in line.',
    { labels: LEVEL_AND_SCHEMA, buckets: [0, 10, 25, 50, 100, 250, 500, 1000] },
  ),
  estimatedSeats: make.histogram('work_estimated_seats', 'Seats that requests were estimated to need.', {
    labels: LEVEL_AND_SCHEMA,
    buckets: [1, 2, 4, 8, 16, 32, 64, 100],
  }),
  watchCount: make.histogram('watch_count_samples', 'Watches that each write concerned.', {
    labels: LEVEL_AND_SCHEMA,
    buckets: [0, 1, 10, 100, 1000, 10_000],
  }),
  noAccommodation: make.counter(
    'request_dispatch_no_accommodation_total',
    'Times the next request in line was too wide for the seats that were free.',
    LEVEL_AND_SCHEMA,
  ),
  waits: make.histogram(
    'request_wait_duration_seconds',
    'Seconds requests stood in line, by whether they were let in.',
    { labels: [...LEVEL_AND_SCHEMA, 'execute'], buckets: TIMES, stability: 'BETA' },
  ),
  executions: make.histogram('request_execution_seconds', 'Seconds requests took; watches only their beginning.', {
    labels: [...LEVEL_AND_SCHEMA, 'type'],
    buckets: TIMES,
  }),
});

/** Of the seats that levels have, lend and want. */
const seatFamilies = (make: FamilyMaker) => ({
  nominal: make.common('nominal_limit_seats', 'Seats a level has by its shares.', LEVEL, 'BETA'),
  lower: make.common('lower_limit_seats', 'Seats a level keeps when it lends.', LEVEL),
  upper: make.common('upper_limit_seats', 'Seats a level has at most when it borrows.', LEVEL),
  current: make.common('current_limit_seats', 'Seats a level has now.', LEVEL),
  highWatermark: make.common('demand_seats_high_watermark', 'Most seats wanted at once in the last round.', LEVEL),
  average: make.common('demand_seats_average', 'Seats wanted in the last round, on average over time.', LEVEL),
  deviation: make.common('demand_seats_stdev', 'How far the wanted seats strayed in the last round.', LEVEL),
  smoothed: make.common('demand_seats_smoothed', 'Seats wanted, smoothed over rounds.', LEVEL),
  target: make.common('target_seats', 'Seats a level was meant to get.', LEVEL),
});

/** Of the virtual time by which queues take turns. */
const meterFamilies = (make: FamilyMaker) => ({
  currentR: make.common('current_r', 'The meter of virtual time.', LEVEL),
  dispatchR: make.common('dispatch_r', 'The meter of virtual time when a request was last let in.', LEVEL),
  latestS: make.common('latest_s', 'Where on the meter that request began.', LEVEL),
  nextBounds: make.common('next_s_bounds', 'Where on the meter those next in line begin.', [...LEVEL, 'bound']),
  discountedBounds: make.common('next_discounted_s_bounds', 'The same, less the work of their queues under way.', [
    ...LEVEL,
    'bound',
  ]),
  epochs: make.counter('epoch_advance_total', 'Times a meter was set back.', [...LEVEL, 'success']),
  fairFraction: make.common('seat_fair_frac', 'Part of its target that a level gets.', []),
});

/** Of how much of a level is used, weighed by time. */
const utilizationFamilies = (make: FamilyMaker) => ({
  demands: make.histogram('demand_seats', 'Seats wanted as a part of the seats there are, weighed by time.', {
    labels: LEVEL,
    buckets: DEMAND_RATIOS,
  }),
  requestUse: make.histogram(
    'priority_level_request_utilization',
    'Requests waiting and executing as a part of what may, weighed by time.',
    { labels: ['phase', ...LEVEL], buckets: REQUEST_RATIOS },
  ),
  seatUse: make.histogram(
    'priority_level_seat_utilization',
    'Seats taken as a part of those there are, weighed by time.',
    { labels: [...LEVEL, 'phase'], buckets: RATIOS },
  ),
  readWrite: make.histogram(
    'read_vs_write_current_requests',
    'Requests waiting and executing, reading and writing, weighed by time.',
    { labels: ['phase', 'request_kind'], buckets: READ_WRITE_RATIOS },
  ),
});
