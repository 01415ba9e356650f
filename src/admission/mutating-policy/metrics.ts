import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { errorTypeOf, policyCheckMetrics } from '../policy-check-metrics.js';

/** Counts the mutations that were tried. */
export interface MutationRecorder {
  /** Without an error the mutation was made. */
  mutated(policy: string, binding: string, seconds: number, error: string | undefined): void;
}

export function mutationMetrics(registry: MetricRegistry): MutationRecorder {
  const count = policyCheckMetrics(registry, 'mutating', 'ALPHA');
  return {
    mutated: (policy, binding, seconds, error) =>
      count([policy, binding, error === undefined ? 'no_error' : errorTypeOf(error)], seconds),
  };
}
