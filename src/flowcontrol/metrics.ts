// The metrics of flow control. Series are looked up once for a schema or a level and kept with it.
import type { CounterSeries, GaugeSeries, HistogramSeries, MetricRegistry } from '../lib/telemetry/metrics.js';
import type { DispatchProgress } from './dispatch-progress.js';
import type { Refusal } from './fair-queues.js';
import { type FlowControlFamilies, flowControlFamilies } from './metric-families.js';
import type { Demand, SeatBounds } from './seats.js';
import { byFlag, once, overTime, SAMPLE_MS, sampled, together } from './series.js';

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
  /** Called when metrics are scraped. */
  progressOf(levels: () => readonly LevelProgress[]): void;
  /** How many requests of a kind wait or are executing, after each change. */
  readonly requests: (phase: RequestPhase, kind: RequestKind, count: number, nowMs: number) => void;
}

export function flowControlMetrics(registry: MetricRegistry): FlowControlMetrics {
  const families = flowControlFamilies(registry);
  const readWriteOf = (phase: RequestPhase) => ({
    readOnly: sampled(overTime(families.readWrite.with(phase, 'readOnly'))),
    mutating: sampled(overTime(families.readWrite.with(phase, 'mutating'))),
  });
  const requests = { waiting: readWriteOf('waiting'), executing: readWriteOf('executing') };

  return {
    schema: (level, schema) => schemaMetrics(families, level, schema),
    level: (level) => levelMetrics(families, level),
    fairFraction: (fraction) => families.fairFraction.with().set(fraction),
    progressOf: (levels) =>
      registry.onCollect(() => {
        for (const { name: level, progress, lastDispatch } of levels()) {
          families.currentR.with(level).set(progress);
          if (lastDispatch === undefined) continue;
          families.dispatchR.with(level).set(lastDispatch.r);
          families.latestS.with(level).set(lastDispatch.start);
          families.nextBounds.with(level, 'min').set(lastDispatch.nextMin);
          families.nextBounds.with(level, 'max').set(lastDispatch.nextMax);
          families.discountedBounds.with(level, 'min').set(lastDispatch.discountedMin);
          families.discountedBounds.with(level, 'max').set(lastDispatch.discountedMax);
        }
      }),
    // hot: twice for each request. A computed member name costs V8 several times as much.
    requests(phase, kind, count, nowMs) {
      const ofPhase = phase === 'waiting' ? requests.waiting : requests.executing;
      const sample = kind === 'readOnly' ? ofPhase.readOnly : ofPhase.mutating;
      sample(count, nowMs);
    },
  };
}

const schemaMetrics = (families: FlowControlFamilies, level: string, schema: string): SchemaMetrics => ({
  dispatched: families.dispatched.with(level, schema),
  inQueue: together(
    () => families.inQueueRequests.with(level, schema),
    () => families.inQueueSeats.with(level, schema),
  ),
  executingRequests: families.executingRequests.with(level, schema),
  executingSeats: families.executingSeats.with(level, schema),
  queueLength: once(() => families.queueLength.with(level, schema)),
  estimatedSeats: families.estimatedSeats.with(level, schema),
  watchCount: once(() => families.watchCount.with(level, schema)),
  noAccommodation: () => families.noAccommodation.with(level, schema).inc(),
  waited: byFlag(
    () => families.waits.with(level, schema, 'true'),
    () => families.waits.with(level, schema, 'false'),
  ),
  executed: byFlag(
    () => families.executions.with(level, schema, 'watch'),
    () => families.executions.with(level, schema, 'regular'),
  ),
  rejected: (why) => families.rejected.with(level, schema, why).inc(),
});

function levelMetrics(families: FlowControlFamilies, level: string): LevelMetrics {
  const demanded = overTime(families.demands.with(level));
  const seats = overTime(families.seatUse.with(level, 'executing'));
  const waiting = overTime(families.requestUse.with('waiting', level));
  const executing = overTime(families.requestUse.with('executing', level));
  let lookedMs = -Infinity;
  return {
    limits(bounds) {
      families.nominal.with(level).set(bounds.nominal);
      families.lower.with(level).set(bounds.lower);
      families.upper.with(level).set(bounds.upper);
    },
    rebalanced(demand, wanted, given) {
      families.highWatermark.with(level).set(demand.high);
      families.average.with(level).set(demand.average);
      families.deviation.with(level).set(demand.deviation);
      families.smoothed.with(level).set(demand.smoothed);
      families.target.with(level).set(wanted);
      families.current.with(level).set(given);
    },
    epochAdvanced: () => families.epochs.with(level, 'true').inc(),
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
}
