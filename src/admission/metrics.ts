import type { MetricRegistry } from '../lib/metrics.js';
import type { ChainObserver } from './chain.js';

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
  const text = (rejected: boolean): string => (rejected ? 'true' : 'false');
  return {
    observe: (name, type, operation, rejected, seconds) =>
      plugins.with(name, type, operation, text(rejected)).observe(seconds),
    observeStep: (type, operation, rejected, seconds) => steps.with(type, operation, text(rejected)).observe(seconds),
  };
}
