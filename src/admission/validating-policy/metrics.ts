import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { ConditionMetrics } from '../condition-metrics.js';
import type { Operation } from '../plugin.js';
import { errorTypeOf, policyCheckMetrics } from '../policy-check-metrics.js';
import type { Decision } from './decide.js';

export type EnforcementAction = 'allow' | 'deny' | 'audit' | 'warn';

/** Counts what came of policies. */
export interface PolicyRecorder {
  checked(policy: string, binding: string, action: EnforcementAction, decision: Decision): void;
  /** The match conditions of a policy were evaluated, with so many errors. */
  matched(policy: string, operation: Operation, seconds: number, errors: number): void;
}

export function policyMetrics(registry: MetricRegistry, conditions: ConditionMetrics): PolicyRecorder {
  const count = policyCheckMetrics(registry, 'validating', 'BETA', ['enforcement_action']);
  return {
    checked: (policy, binding, action, decision) =>
      count([policy, binding, errorType(decision), action], decision.seconds),
    matched(policy, operation, seconds, errors) {
      conditions.evaluated({ name: policy, kind: 'policy', type: 'validate', operation }, seconds, errors);
    },
  };
}

/** A refusal by an expression that was evaluated counts as an invalid error, too. */
const errorType = ({ evaluation, message }: Decision): string =>
  evaluation === 'admit' ? 'no_error' : errorTypeOf(message);
