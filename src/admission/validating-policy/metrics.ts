import type { MetricRegistry } from '../../lib/metrics.js';
import type { ConditionMetrics } from '../condition-metrics.js';
import type { Operation } from '../plugin.js';
import type { Decision } from './decide.js';

export type EnforcementAction = 'allow' | 'deny' | 'audit' | 'warn';

/** Counts what came of policies. */
export interface PolicyRecorder {
  checked(policy: string, binding: string, action: EnforcementAction, decision: Decision): void;
  /** The match conditions of a policy were evaluated, with so many errors. */
  matched(policy: string, operation: Operation, seconds: number, errors: number): void;
}

const CHECK_LABELS = ['policy', 'policy_binding', 'error_type', 'enforcement_action'];

export function policyMetrics(registry: MetricRegistry, conditions: ConditionMetrics): PolicyRecorder {
  const checks = registry.counter({
    name: 'apiserver_validating_admission_policy_check_total',
    help: 'Checks by validating admission policies, by policy, binding, kind of error and what was done about it.',
    labels: CHECK_LABELS,
    stability: 'BETA',
  });
  const durations = registry.histogram({
    name: 'apiserver_validating_admission_policy_check_duration_seconds',
    help: 'Seconds an expression of a validating admission policy took, by policy, binding, kind of error and what was done about it.',
    labels: CHECK_LABELS,
    buckets: [0.0000005, 0.001, 0.01, 0.1, 1],
    stability: 'BETA',
  });
  return {
    checked(policy, binding, action, decision) {
      const labels = [policy, binding, errorType(decision), action];
      checks.with(...labels).inc();
      durations.with(...labels).observe(decision.seconds);
    },
    matched(policy, operation, seconds, errors) {
      conditions.evaluated({ name: policy, kind: 'policy', type: 'validate', operation }, seconds, errors);
    },
  };
}

/** A refusal by an expression that was evaluated counts as an invalid error, too. */
const errorType = ({ evaluation, message }: Decision): string =>
  evaluation === 'admit' ? 'no_error' : errorTypeOf(message);

export function errorTypeOf(error: string): string {
  if (error.startsWith('compilation')) return 'compile_error';
  if (error.startsWith('validation failed due to running out of cost budget')) return 'out_of_budget';
  return 'invalid_error';
}
