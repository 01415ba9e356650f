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
  const name = (text: string): string => `apiserver_flowcontrol_${text}`;
  const gauge = (text: string, help: string, labels: readonly string[], stability: 'ALPHA' | 'BETA' = 'ALPHA') =>
    registry.gauge({ name: name(text), help, labels, stability });
  const counter = (text: string, help: string, labels: readonly string[], stability: 'ALPHA' | 'BETA' = 'ALPHA') =>
    registry.counter({ name: name(text), help, labels, stability });
  const histogram = (
    text: string,
    help: string,
    labels: readonly string[],
    buckets: readonly number[],
    stability: 'ALPHA' | 'BETA' = 'ALPHA',
  ) => registry.histogram({ name: name(text), help, labels, stability, buckets });

  return {
    rejected: counter(
      'rejected_requests_total',
      'Requests that were refused, by reason.',
      [...LEVEL_AND_SCHEMA, 'reason'],
      'BETA',
    ),
    dispatched: counter('dispatched_requests_total', 'Requests that were let in.', LEVEL_AND_SCHEMA, 'BETA'),
    inQueueRequests: gauge('current_inqueue_requests', 'Requests that wait for seats now.', LEVEL_AND_SCHEMA, 'BETA'),
    inQueueSeats: gauge('current_inqueue_seats', 'Seats that waiting requests want.', LEVEL_AND_SCHEMA),
    executingRequests: gauge(
      'current_executing_requests',
      'Requests under way; watches only while they begin.',
      LEVEL_AND_SCHEMA,
      'BETA',
    ),
    executingSeats: gauge('current_executing_seats', 'Seats that are taken.', LEVEL_AND_SCHEMA, 'BETA'),
    queueLength: histogram(
      'request_queue_length_after_enqueue',
      'Length of its queue, as each request sees it once it is in line.',
      LEVEL_AND_SCHEMA,
      [0, 10, 25, 50, 100, 250, 500, 1000],
    ),
    estimatedSeats: histogram(
      'work_estimated_seats',
      'Seats that requests were estimated to need.',
      LEVEL_AND_SCHEMA,
      [1, 2, 4, 8, 16, 32, 64, 100],
    ),
    watchCount: histogram(
      'watch_count_samples',
      'Watches that each write concerned.',
      LEVEL_AND_SCHEMA,
      [0, 1, 10, 100, 1000, 10_000],
    ),
    noAccommodation: counter(
      'request_dispatch_no_accommodation_total',
      'Times the next request in line was too wide for the seats that were free.',
      LEVEL_AND_SCHEMA,
    ),
    waits: histogram(
      'request_wait_duration_seconds',
      'Seconds requests stood in line, by whether they were let in.',
      [...LEVEL_AND_SCHEMA, 'execute'],
      TIMES,
      'BETA',
    ),
    executions: histogram(
      'request_execution_seconds',
      'Seconds requests took; watches only their beginning.',
      [...LEVEL_AND_SCHEMA, 'type'],
      TIMES,
    ),
    nominal: gauge('nominal_limit_seats', 'Seats a level has by its shares.', LEVEL, 'BETA'),
    lower: gauge('lower_limit_seats', 'Seats a level keeps when it lends.', LEVEL),
    upper: gauge('upper_limit_seats', 'Seats a level has at most when it borrows.', LEVEL),
    current: gauge('current_limit_seats', 'Seats a level has now.', LEVEL),
    highWatermark: gauge('demand_seats_high_watermark', 'Most seats wanted at once in the last round.', LEVEL),
    average: gauge('demand_seats_average', 'Seats wanted in the last round, on average over time.', LEVEL),
    deviation: gauge('demand_seats_stdev', 'How far the wanted seats strayed in the last round.', LEVEL),
    smoothed: gauge('demand_seats_smoothed', 'Seats wanted, smoothed over rounds.', LEVEL),
    target: gauge('target_seats', 'Seats a level was meant to get.', LEVEL),
    currentR: gauge('current_r', 'The meter of virtual time.', LEVEL),
    dispatchR: gauge('dispatch_r', 'The meter of virtual time when a request was last let in.', LEVEL),
    latestS: gauge('latest_s', 'Where on the meter that request began.', LEVEL),
    nextBounds: gauge('next_s_bounds', 'Where on the meter those next in line begin.', [...LEVEL, 'bound']),
    discountedBounds: gauge('next_discounted_s_bounds', 'The same, less the work of their queues under way.', [
      ...LEVEL,
      'bound',
    ]),
    epochs: counter('epoch_advance_total', 'Times a meter was set back.', [...LEVEL, 'success']),
    fairFraction: gauge('seat_fair_frac', 'Part of its target that a level gets.', []),
    demands: histogram(
      'demand_seats',
      'Seats wanted as a part of the seats there are, weighed by time.',
      LEVEL,
      DEMAND_RATIOS,
    ),
    requestUse: histogram(
      'priority_level_request_utilization',
      'Requests waiting and executing as a part of what may, weighed by time.',
      ['phase', ...LEVEL],
      REQUEST_RATIOS,
    ),
    seatUse: histogram(
      'priority_level_seat_utilization',
      'Seats taken as a part of those there are, weighed by time.',
      [...LEVEL, 'phase'],
      RATIOS,
    ),
    readWrite: histogram(
      'read_vs_write_current_requests',
      'Requests waiting and executing, reading and writing, weighed by time.',
      ['phase', 'request_kind'],
      READ_WRITE_RATIOS,
    ),
  };
}
