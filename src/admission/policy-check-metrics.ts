import type { MetricRegistry, Stability } from '../lib/telemetry/metrics.js';

/** Counts one check of a policy: its labels' values, and how long it took. */
export type CountCheck = (values: readonly string[], seconds: number) => void;

const LABELS = ['policy', 'policy_binding', 'error_type'];

/** What policies of one sort do, under the names dashboards know. */
export function policyCheckMetrics(
  registry: MetricRegistry,
  sort: 'validating' | 'mutating',
  stability: Stability,
  moreLabels: readonly string[] = [],
): CountCheck {
  const labels = [...LABELS, ...moreLabels];
  const prefix = `apiserver_${sort}_admission_policy_check`;
  const checks = registry.counter({
    name: `${prefix}_total`,
    help: `What ${sort} admission policies did, by policy, binding and kind of error.`,
    labels,
    stability,
  });
  const durations = registry.histogram({
    name: `${prefix}_duration_seconds`,
    help: `Seconds that took, by policy, binding and kind of error.`,
    labels,
    buckets: [0.0000005, 0.001, 0.01, 0.1, 1],
    stability,
  });
  return (values, seconds) => {
    checks.with(...values).inc();
    durations.with(...values).observe(seconds);
  };
}

export function errorTypeOf(error: string): string {
  if (error.startsWith('compilation')) return 'compile_error';
  if (error.startsWith('validation failed due to running out of cost budget')) return 'out_of_budget';
  return 'invalid_error';
}
