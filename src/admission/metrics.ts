import type { Histogram, HistogramSeries, MetricRegistry } from '../lib/telemetry/metrics.js';
import type { Summary, SummarySeries } from '../lib/telemetry/summary.js';
import type { ChainObserver, Observe } from './chain.js';

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

/** How long admission takes: each plugin, and each of the two steps as a whole. */
export function admissionMetrics(registry: MetricRegistry): ChainObserver {
  const plugins = registry.histogram({
    name: 'apiserver_admission_controller_admission_duration_seconds',
    help: 'Seconds each admission plugin took, by its name, the step (admit or validate), the operation and whether it refused.',
    labels: ['name', 'type', 'operation', 'rejected'],
    stability: 'STABLE',
    buckets: BUCKETS,
  });
  const steps = registry.histogram({
    name: 'apiserver_admission_step_admission_duration_seconds',
    help: 'Seconds each step of admission (admit or validate) took, by the operation and whether it ended in a refusal.',
    labels: ['type', 'operation', 'rejected'],
    stability: 'STABLE',
    buckets: BUCKETS,
  });
  const summary = registry.summary({
    name: 'apiserver_admission_step_admission_duration_seconds_summary',
    help: 'The same as quantiles of the last ones.',
    labels: ['type', 'operation', 'rejected'],
    stability: 'ALPHA',
  });
  return {
    plugin: (name, type, operation) => observing(plugins, [name, type, operation]),
    step(type, operation) {
      const observers = [observing(steps, [type, operation]), observing(summary, [type, operation])];
      return (rejected, seconds) => {
        for (const observe of observers) observe(rejected, seconds);
      };
    },
  };
}

type Observed = HistogramSeries | SummarySeries;

/** Series are made when there is something to show, and kept. */
function observing(metric: Histogram | Summary, labels: readonly string[]): Observe {
  let admitted: Observed | undefined;
  let refused: Observed | undefined;
  return (rejected, seconds) => {
    const series = rejected
      ? (refused ??= metric.with(...labels, 'true'))
      : (admitted ??= metric.with(...labels, 'false'));
    series.observe(seconds);
  };
}
