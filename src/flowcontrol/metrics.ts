// What flow control tells of itself. Series are looked up once for a schema or a level and kept with it.
import type { CounterSeries, GaugeSeries, HistogramSeries, MetricRegistry } from '../lib/metrics.js';
import type { DispatchProgress } from './dispatch-progress.js';
import type { Refusal } from './fair-queues.js';
import type { Demand, SeatBounds } from './seats.js';

export interface SchemaMetrics {
  readonly dispatched: CounterSeries;
  readonly inQueue: (requests: number, seats: number) => void;
  readonly executingRequests: GaugeSeries;
  readonly executingSeats: GaugeSeries;
  readonly queueLength: (length: number) => void;
  readonly estimatedSeats: HistogramSeries;
  readonly watchCount: (watches: number) => void;
  readonly noAccommodation: () => void;
  readonly waited: (seconds: number, executed: boolean) => void;
  readonly executed: (seconds: number, watch: boolean) => void;
  readonly rejected: (why: Refusal) => void;
}

export interface LevelMetrics {
  limits(bounds: SeatBounds): void;
  rebalanced(demand: Demand, target: number, seats: number): void;
  /** The meter of virtual time was set back. */
  epochAdvanced(): void;
  /** Whether it is time to look at the utilization again. */
  isDue(nowMs: number): boolean;
  /** Of the seats and of the requests waiting and executing, as parts of what there could be. */
  utilization(state: Utilization, nowMs: number): void;
}

export interface Utilization {
  readonly demandedSeats: number;
  readonly seatsInUse: number;
  readonly waiting: number;
  readonly executing: number;
  readonly seats: number;
  readonly queueRoom: number;
}

/** Where the meter of virtual time of a level with queues is, in seat-seconds. */
export interface LevelProgress {
  readonly name: string;
  readonly progress: number;
  /** None before the first request was let in. */
  readonly lastDispatch: DispatchProgress | undefined;
}

export type RequestPhase = 'waiting' | 'executing';
export type RequestKind = 'readOnly' | 'mutating';

export interface FlowControlMetrics {
  schema(level: string, schema: string): SchemaMetrics;
  level(name: string): LevelMetrics;
  fairFraction(fraction: number): void;
  /** Asked when somebody looks. */
  progressOf(levels: () => readonly LevelProgress[]): void;
  /** How many requests of a kind wait or are executing, after each change. */
  readonly requests: (phase: RequestPhase, kind: RequestKind, count: number, nowMs: number) => void;
}

/** Changes that follow each other more closely are not told apart: the time goes to the one that was seen. */
const SAMPLE_MS = 0.1;
const LEVEL = ['priority_level'];
const LEVEL_AND_SCHEMA = ['priority_level', 'flow_schema'];
const TIMES = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const RATIOS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const REQUEST_RATIOS = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1];
const READ_WRITE_RATIOS = [0, 0.001, 0.01, ...RATIOS.slice(1)];
const DEMAND_RATIOS = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6];

export function flowControlMetrics(registry: MetricRegistry): FlowControlMetrics {
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

  const rejected = counter(
    'rejected_requests_total',
    'Requests that were refused, by reason.',
    [...LEVEL_AND_SCHEMA, 'reason'],
    'BETA',
  );
  const dispatched = counter('dispatched_requests_total', 'Requests that were let in.', LEVEL_AND_SCHEMA, 'BETA');
  const inQueueRequests = gauge(
    'current_inqueue_requests',
    'Requests that wait for seats now.',
    LEVEL_AND_SCHEMA,
    'BETA',
  );
  const inQueueSeats = gauge('current_inqueue_seats', 'Seats that waiting requests want.', LEVEL_AND_SCHEMA);
  const executingRequests = gauge(
    'current_executing_requests',
    'Requests under way; watches only while they begin.',
    LEVEL_AND_SCHEMA,
    'BETA',
  );
  const executingSeats = gauge('current_executing_seats', 'Seats that are taken.', LEVEL_AND_SCHEMA, 'BETA');
  const queueLength = histogram(
    'request_queue_length_after_enqueue',
    'Length of its queue, as each request sees it once it is in line.',
    LEVEL_AND_SCHEMA,
    [0, 10, 25, 50, 100, 250, 500, 1000],
  );
  const estimatedSeats = histogram(
    'work_estimated_seats',
    'Seats that requests were estimated to need.',
    LEVEL_AND_SCHEMA,
    [1, 2, 4, 8, 16, 32, 64, 100],
  );
  const watchCount = histogram(
    'watch_count_samples',
    'Watches that each write concerned.',
    LEVEL_AND_SCHEMA,
    [0, 1, 10, 100, 1000, 10_000],
  );
  const noAccommodation = counter(
    'request_dispatch_no_accommodation_total',
    'Times the next request in line was too wide for the seats that were free.',
    LEVEL_AND_SCHEMA,
  );
  const waits = histogram(
    'request_wait_duration_seconds',
    'Seconds requests stood in line, by whether they were let in.',
    [...LEVEL_AND_SCHEMA, 'execute'],
    TIMES,
    'BETA',
  );
  const executions = histogram(
    'request_execution_seconds',
    'Seconds requests took; watches only their beginning.',
    [...LEVEL_AND_SCHEMA, 'type'],
    TIMES,
  );

  const nominal = gauge('nominal_limit_seats', 'Seats a level has by its shares.', LEVEL, 'BETA');
  const lower = gauge('lower_limit_seats', 'Seats a level keeps when it lends.', LEVEL);
  const upper = gauge('upper_limit_seats', 'Seats a level has at most when it borrows.', LEVEL);
  const current = gauge('current_limit_seats', 'Seats a level has now.', LEVEL);
  const highWatermark = gauge('demand_seats_high_watermark', 'Most seats wanted at once in the last round.', LEVEL);
  const average = gauge('demand_seats_average', 'Seats wanted in the last round, on average over time.', LEVEL);
  const deviation = gauge('demand_seats_stdev', 'How far the wanted seats strayed in the last round.', LEVEL);
  const smoothed = gauge('demand_seats_smoothed', 'Seats wanted, smoothed over rounds.', LEVEL);
  const target = gauge('target_seats', 'Seats a level was meant to get.', LEVEL);
  const currentR = gauge('current_r', 'The meter of virtual time.', LEVEL);
  const dispatchR = gauge('dispatch_r', 'The meter of virtual time when a request was last let in.', LEVEL);
  const latestS = gauge('latest_s', 'Where on the meter that request began.', LEVEL);
  const nextBounds = gauge('next_s_bounds', 'Where on the meter those next in line begin.', [...LEVEL, 'bound']);
  const discountedBounds = gauge('next_discounted_s_bounds', 'The same, less the work of their queues under way.', [
    ...LEVEL,
    'bound',
  ]);
  const epochs = counter('epoch_advance_total', 'Times a meter was set back.', [...LEVEL, 'success']);
  const fairFraction = gauge('seat_fair_frac', 'Part of its target that a level gets.', []);
  const demands = histogram(
    'demand_seats',
    'Seats wanted as a part of the seats there are, weighed by time.',
    LEVEL,
    DEMAND_RATIOS,
  );
  const requestUse = histogram(
    'priority_level_request_utilization',
    'Requests waiting and executing as a part of what may, weighed by time.',
    ['phase', ...LEVEL],
    REQUEST_RATIOS,
  );
  const seatUse = histogram(
    'priority_level_seat_utilization',
    'Seats taken as a part of those there are, weighed by time.',
    [...LEVEL, 'phase'],
    RATIOS,
  );

  const readWrite = histogram(
    'read_vs_write_current_requests',
    'Requests waiting and executing, reading and writing, weighed by time.',
    ['phase', 'request_kind'],
    READ_WRITE_RATIOS,
  );
  const readWriteOf = (phase: RequestPhase) => ({
    readOnly: sampled(overTime(readWrite.with(phase, 'readOnly'))),
    mutating: sampled(overTime(readWrite.with(phase, 'mutating'))),
  });
  const requests = { waiting: readWriteOf('waiting'), executing: readWriteOf('executing') };

  return {
    schema: (level, schema) => ({
      dispatched: dispatched.with(level, schema),
      inQueue: together(
        () => inQueueRequests.with(level, schema),
        () => inQueueSeats.with(level, schema),
      ),
      executingRequests: executingRequests.with(level, schema),
      executingSeats: executingSeats.with(level, schema),
      queueLength: once(() => queueLength.with(level, schema)),
      estimatedSeats: estimatedSeats.with(level, schema),
      watchCount: once(() => watchCount.with(level, schema)),
      noAccommodation: () => noAccommodation.with(level, schema).inc(),
      waited: byFlag(
        () => waits.with(level, schema, 'true'),
        () => waits.with(level, schema, 'false'),
      ),
      executed: byFlag(
        () => executions.with(level, schema, 'watch'),
        () => executions.with(level, schema, 'regular'),
      ),
      rejected: (why) => rejected.with(level, schema, why).inc(),
    }),
    level(level) {
      const demanded = overTime(demands.with(level));
      const seats = overTime(seatUse.with(level, 'executing'));
      const waiting = overTime(requestUse.with('waiting', level));
      const executing = overTime(requestUse.with('executing', level));
      let lookedMs = -Infinity;
      return {
        limits(bounds) {
          nominal.with(level).set(bounds.nominal);
          lower.with(level).set(bounds.lower);
          upper.with(level).set(bounds.upper);
        },
        rebalanced(demand, wanted, given) {
          highWatermark.with(level).set(demand.high);
          average.with(level).set(demand.average);
          deviation.with(level).set(demand.deviation);
          smoothed.with(level).set(demand.smoothed);
          target.with(level).set(wanted);
          current.with(level).set(given);
        },
        epochAdvanced: () => epochs.with(level, 'true').inc(),
        isDue: (nowMs) => nowMs - lookedMs >= SAMPLE_MS,
        utilization(state, nowMs) {
          lookedMs = nowMs;
          const { seats: all, queueRoom } = state;
          demanded(state.demandedSeats / Math.max(1, all), nowMs);
          seats(state.seatsInUse / Math.max(1, all), nowMs);
          executing(state.executing / Math.max(1, all), nowMs);
          waiting(state.waiting / Math.max(1, queueRoom), nowMs);
        },
      };
    },
    fairFraction: (fraction) => fairFraction.with().set(fraction),
    progressOf: (levels) =>
      registry.onCollect(() => {
        for (const { name: level, progress, lastDispatch } of levels()) {
          currentR.with(level).set(progress);
          if (lastDispatch === undefined) continue;
          dispatchR.with(level).set(lastDispatch.r);
          latestS.with(level).set(lastDispatch.start);
          nextBounds.with(level, 'min').set(lastDispatch.nextMin);
          nextBounds.with(level, 'max').set(lastDispatch.nextMax);
          discountedBounds.with(level, 'min').set(lastDispatch.discountedMin);
          discountedBounds.with(level, 'max').set(lastDispatch.discountedMax);
        }
      }),
    // hot: twice for each request. A member whose name is a value takes V8 several times as long.
    requests(phase, kind, count, nowMs) {
      const ofPhase = phase === 'waiting' ? requests.waiting : requests.executing;
      const sample = kind === 'readOnly' ? ofPhase.readOnly : ofPhase.mutating;
      sample(count, nowMs);
    },
  };
}

/** Nothing is shown of queues where there are none. */
function together(
  requests: () => GaugeSeries,
  seats: () => GaugeSeries,
): (ofRequests: number, ofSeats: number) => void {
  let series: { readonly requests: GaugeSeries; readonly seats: GaugeSeries } | undefined;
  return (ofRequests, ofSeats) => {
    series ??= { requests: requests(), seats: seats() };
    series.requests.add(ofRequests);
    series.seats.add(ofSeats);
  };
}

/** Series are made when there is something to show, and kept. */
function byFlag(yes: () => HistogramSeries, no: () => HistogramSeries): (seconds: number, flag: boolean) => void {
  let yesSeries: HistogramSeries | undefined;
  let noSeries: HistogramSeries | undefined;
  return (seconds, flag) => (flag ? (yesSeries ??= yes()) : (noSeries ??= no())).observe(seconds);
}

/** The same for a single one. */
function once(make: () => HistogramSeries): (value: number) => void {
  let series: HistogramSeries | undefined;
  return (value) => (series ??= make()).observe(value);
}

/** A value that lasts: each nanosecond of it is an observation. */
function overTime(series: HistogramSeries): (value: number, nowMs: number) => void {
  let last = 0;
  let sinceMs: number | undefined;
  return (value, nowMs) => {
    if (sinceMs !== undefined && nowMs > sinceMs) series.observe(last, Math.round((nowMs - sinceMs) * 1e6));
    last = value;
    sinceMs = nowMs;
  };
}

/** Of changes that follow each other closely, the first is taken for all. */
function sampled(tell: (value: number, nowMs: number) => void): (value: number, nowMs: number) => void {
  let toldMs = -Infinity;
  return (value, nowMs) => {
    if (nowMs - toldMs < SAMPLE_MS) return;
    toldMs = nowMs;
    tell(value, nowMs);
  };
}
