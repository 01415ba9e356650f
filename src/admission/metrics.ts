import type { Histogram, HistogramSeries, MetricRegistry } from '../lib/metrics.js';
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
  return {
    plugin: (name, type, operation) => observing(plugins, [name, type, operation]),
    step: (type, operation) => observing(steps, [type, operation]),
  };
}

/** Series are made when there is something to show, and kept. */
function observing(histogram: Histogram, labels: readonly string[]): Observe {
  let admitted: HistogramSeries | undefined;
  let refused: HistogramSeries | undefined;
  return (rejected, seconds) => {
    const series = rejected
      ? (refused ??= histogram.with(...labels, 'true'))
      : (admitted ??= histogram.with(...labels, 'false'));
    series.observe(seconds);
  };
}
