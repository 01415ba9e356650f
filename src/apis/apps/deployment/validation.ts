import { append } from '../../../lib/values/append.js';
import { internalValue } from '../../core/internal-form/internal-value.js';
import {
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../machinery/field-error.js';
import { validateNonNegative } from '../../../machinery/validation/fields.js';
import type { DeploymentSpec, DeploymentStatus, DeploymentStrategy } from '../../../schema/generated/apps.v1.js';
import { validateCollisionCount, validateCounts, validateReplicaCounts } from '../../core/pod/replica-status.js';
import type { PodRules } from '../../core/pod/validation/pod-rules.js';
import { numberIn, validateAtMostWhole, validateIntOrPercent } from '../shared/int-or-percent.js';
import { validateReplicaTemplate } from '../shared/replica-template.js';
import { validateOwnSelector } from '../shared/selector.js';

const SPEC = FieldPath.of('spec');
const STATUS = FieldPath.of('status');

export function validateDeploymentSpec(spec: Readonly<DeploymentSpec>, rules: PodRules): FieldErrors {
  const errors = [
    ...validateNonNegative(spec.replicas, SPEC.child('replicas')),
    ...validateOwnSelector(spec.selector, 'deployment', SPEC.child('selector')),
  ];
  append(errors, validateReplicaTemplate(spec, SPEC, rules));
  append(
    errors,
    validateStrategy(spec.strategy, SPEC.child('strategy')),
    validateNonNegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    validateNonNegative(spec.revisionHistoryLimit, SPEC.child('revisionHistoryLimit')),
  );
  const deadline = spec.progressDeadlineSeconds;
  if (deadline !== undefined) {
    const path = SPEC.child('progressDeadlineSeconds');
    append(errors, validateNonNegative(deadline, path));
    if (deadline <= (spec.minReadySeconds ?? 0)) {
      errors.push(invalid(path, deadline, 'must be greater than minReadySeconds'));
    }
  }
  return errors;
}

export const validateDeploymentStatus = (
  status: Readonly<DeploymentStatus>,
  old: Readonly<DeploymentStatus>,
): FieldErrors => [
  ...validateCounts(
    status,
    [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'terminatingReplicas',
      'collisionCount',
    ],
    STATUS,
  ),
  ...validateReplicaCounts(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], 'readyReplicas', STATUS),
  ...validateCollisionCount(status, old, STATUS),
];

function validateStrategy(strategy: Readonly<DeploymentStrategy>, path: FieldPath): FieldErrors {
  const { type, rollingUpdate } = strategy;
  const at = path.child('rollingUpdate');
  switch (type) {
    case 'Recreate':
      return rollingUpdate ? [forbidden(at, "may not be specified when strategy `type` is 'Recreate'")] : [];
    case 'RollingUpdate':
      if (!rollingUpdate) return [required(at, 'this should be defaulted and never be nil')];
      return validateRollingUpdate(rollingUpdate, at);
    default:
      return [notSupported(path, internalValue('DeploymentStrategy', strategy), ['Recreate', 'RollingUpdate'])];
  }
}

/** Pods must be allowed to be missing or to be too many: otherwise none could ever be replaced. */
function validateRollingUpdate(
  { maxUnavailable = 0, maxSurge = 0 }: NonNullable<DeploymentStrategy['rollingUpdate']>,
  path: FieldPath,
): FieldErrors {
  const at = path.child('maxUnavailable');
  const errors = [
    ...validateIntOrPercent(maxUnavailable, at),
    ...validateIntOrPercent(maxSurge, path.child('maxSurge')),
  ];
  if (numberIn(maxUnavailable) === 0 && numberIn(maxSurge) === 0) {
    errors.push(invalid(at, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  append(errors, validateAtMostWhole(maxUnavailable, at));
  return errors;
}
