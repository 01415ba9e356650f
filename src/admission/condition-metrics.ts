import type { MetricRegistry } from '../lib/telemetry/metrics.js';
import type { Operation } from './plugin.js';

/** Whose match conditions: a policy's or a webhook's, and at which step. */
export interface ConditionOwner {
  readonly name: string;
  readonly kind: 'policy' | 'webhook';
  readonly type: string;
  readonly operation: Operation;
}

/** Counts what came of match conditions, of policies and webhooks alike. */
export interface ConditionMetrics {
  evaluated(owner: ConditionOwner, seconds: number, errors: number): void;
  /** A request was passed over for them. */
  excluded(owner: ConditionOwner): void;
}

const LABELS = ['name', 'kind', 'type', 'operation'];

export function conditionMetrics(registry: MetricRegistry): ConditionMetrics {
  const errorCount = registry.counter({
    name: 'apiserver_admission_match_condition_evaluation_errors_total',
    help: 'Match conditions that could not be evaluated, by the policy or webhook they stand in.',
    labels: LABELS,
    stability: 'ALPHA',
  });
  const durations = registry.histogram({
    name: 'apiserver_admission_match_condition_evaluation_seconds',
    help: 'Seconds the match conditions of a policy or webhook took.',
    labels: LABELS,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
    stability: 'ALPHA',
  });
  const exclusions = registry.counter({
    name: 'apiserver_admission_match_condition_exclusions_total',
    help: 'Requests that skipped a policy or webhook because of its match conditions.',
    labels: LABELS,
    stability: 'ALPHA',
  });
  const labelsOf = ({ name, kind, type, operation }: ConditionOwner): string[] => [name, kind, type, operation];
  return {
    evaluated(owner, seconds, errors) {
      durations.with(...labelsOf(owner)).observe(seconds);
      if (errors > 0) errorCount.with(...labelsOf(owner)).inc(errors);
    },
    excluded: (owner) => exclusions.with(...labelsOf(owner)).inc(),
  };
}
