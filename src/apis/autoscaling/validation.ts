import { append } from '../../lib/values/append.js';
import {
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../machinery/field-error.js';
import { quantitySign } from '../../machinery/quantity.js';
import { NOT_NEGATIVE, validateNonNegative } from '../../machinery/validation/fields.js';
import type { FeatureGates } from '../../registry/kind.js';
import type {
  HorizontalPodAutoscaler,
  HPAScalingPolicy,
  HPAScalingRules,
} from '../../schema/generated/autoscaling.v2.js';
import { validateMetric } from './metric-validation.js';
import { apiVersionProblem, type ReferenceRules, validateReference } from './reference-validation.js';

const SPEC = FieldPath.of('spec');
const SELECT_POLICIES = ['Disabled', 'Max', 'Min'];
const POLICY_TYPES = ['Percent', 'Pods'];
const MAX_PERIOD_SECONDS = 1800;
const MAX_STABILIZATION_SECONDS = 3600;

export function validateAutoscaler(
  { spec }: Readonly<HorizontalPodAutoscaler>,
  old: Readonly<HorizontalPodAutoscaler> | undefined,
  features: FeatureGates,
): FieldErrors {
  const { minReplicas, maxReplicas, behavior } = spec;
  const errors: FieldErrors = [];
  const fewest = features.enabled('HPAScaleToZero') || old?.spec.minReplicas === 0 ? 0 : 1;
  if (minReplicas !== undefined && minReplicas < fewest) {
    errors.push(invalid(SPEC.child('minReplicas'), minReplicas, `must be greater than or equal to ${fewest}`));
  }
  const maxPath = SPEC.child('maxReplicas');
  if (maxReplicas < 1) errors.push(invalid(maxPath, maxReplicas, 'must be greater than 0'));
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    errors.push(invalid(maxPath, maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  append(
    errors,
    validateReference(spec.scaleTargetRef, SPEC.child('scaleTargetRef'), targetRules(spec, old?.spec)),
    validateMetrics(spec, SPEC.child('metrics'), objectRules(old?.spec)),
    validateScalingRules(behavior?.scaleUp, SPEC.child('behavior', 'scaleUp')),
    validateScalingRules(behavior?.scaleDown, SPEC.child('behavior', 'scaleDown')),
  );
  return errors;
}

export function validateAutoscalerStatus({ status }: Readonly<HorizontalPodAutoscaler>): FieldErrors {
  const path = FieldPath.of('status');
  return [
    ...validateNonNegative(status.currentReplicas, path.child('currentReplicas')),
    ...validateNonNegative(status.desiredReplicas, path.child('desiredReplicas')),
  ];
}

type Spec = Readonly<HorizontalPodAutoscaler['spec']>;

/** A target that stays is not judged again; of the core group only replication controllers can be scaled. */
function targetRules({ scaleTargetRef: now }: Spec, old: Spec | undefined): ReferenceRules {
  const before = old?.scaleTargetRef;
  const stays = before?.apiVersion === now.apiVersion && before?.kind === now.kind;
  return {
    allowInvalidApiVersion: before !== undefined && stays,
    allowEmptyGroup: now.kind === 'ReplicationController',
  };
}

function objectRules(old: Spec | undefined): ReferenceRules {
  const rules = { allowInvalidApiVersion: false, allowEmptyGroup: true };
  const alreadyInvalid = (old?.metrics ?? []).some(
    ({ type, object }) =>
      type === 'Object' && object !== undefined && apiVersionProblem(object.describedObject, rules) !== undefined,
  );
  return alreadyInvalid ? { ...rules, allowInvalidApiVersion: true } : rules;
}

function validateMetrics({ metrics = [], minReplicas }: Spec, path: FieldPath, rules: ReferenceRules): FieldErrors {
  const errors = metrics.flatMap((metric, position) => validateMetric(metric, path.index(position), rules));
  const worksWithoutPods = metrics.some(({ type }) => type === 'Object' || type === 'External');
  if (minReplicas === 0 && !worksWithoutPods) {
    const why = 'must specify at least one Object or External metric to support scaling to zero replicas';
    errors.push(forbidden(path, why));
  }
  return errors;
}

function validateScalingRules(rules: Readonly<HPAScalingRules> | undefined, path: FieldPath): FieldErrors {
  if (rules === undefined) return [];
  const { stabilizationWindowSeconds: window, selectPolicy, policies = [], tolerance } = rules;
  const errors: FieldErrors = [];
  const windowPath = path.child('stabilizationWindowSeconds');
  if (window !== undefined && window < 0) {
    errors.push(invalid(windowPath, window, 'must be greater than or equal to zero'));
  }
  if (window !== undefined && window > MAX_STABILIZATION_SECONDS) {
    errors.push(invalid(windowPath, window, `must be less than or equal to ${MAX_STABILIZATION_SECONDS}`));
  }
  if (selectPolicy !== undefined && !SELECT_POLICIES.includes(selectPolicy)) {
    errors.push(notSupported(path.child('selectPolicy'), selectPolicy, SELECT_POLICIES));
  }
  const policiesPath = path.child('policies');
  if (policies.length === 0) errors.push(required(policiesPath, 'must specify at least one Policy'));
  append(
    errors,
    policies.flatMap((policy, position) => validatePolicy(policy, policiesPath.index(position))),
  );
  if (tolerance !== undefined && quantitySign(tolerance) < 0) {
    errors.push(invalid(path.child('tolerance'), tolerance, NOT_NEGATIVE));
  }
  return errors;
}

function validatePolicy({ type, value, periodSeconds }: Readonly<HPAScalingPolicy>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (!POLICY_TYPES.includes(type)) errors.push(notSupported(path.child('type'), type, POLICY_TYPES));
  if (value <= 0) errors.push(invalid(path.child('value'), value, 'must be greater than zero'));
  const periodPath = path.child('periodSeconds');
  if (periodSeconds <= 0) errors.push(invalid(periodPath, periodSeconds, 'must be greater than zero'));
  if (periodSeconds > MAX_PERIOD_SECONDS) {
    errors.push(invalid(periodPath, periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`));
  }
  return errors;
}
