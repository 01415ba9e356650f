import type { MetricRegistry } from '../../lib/metrics.js';
import { errorTypeOf } from '../validating-policy/metrics.js';

/** Counts the mutations that were tried. */
export interface MutationRecorder {
  /** Without an error the mutation was made. */
  mutated(policy: string, binding: string, seconds: number, error: string | undefined): void;
}

const LABELS = ['policy', 'policy_binding', 'error_type'];

export function mutationMetrics(registry: MetricRegistry): MutationRecorder {
  const checks = registry.counter({
    name: 'apiserver_mutating_admission_policy_check_total',
    help: 'Mutations by mutating admission policies, by policy, binding and kind of error.',
    labels: LABELS,
    stability: 'ALPHA',
  });
  const durations = registry.histogram({
    name: 'apiserver_mutating_admission_policy_check_duration_seconds',
    help: 'Seconds a mutation of a mutating admission policy took, by policy, binding and kind of error.',
    labels: LABELS,
    buckets: [0.0000005, 0.001, 0.01, 0.1, 1],
    stability: 'ALPHA',
  });
  return {
    mutated(policy, binding, seconds, error) {
      const labels = [policy, binding, error === undefined ? 'no_error' : errorTypeOf(error)];
      checks.with(...labels).inc();
      durations.with(...labels).observe(seconds);
    },
  };
}
