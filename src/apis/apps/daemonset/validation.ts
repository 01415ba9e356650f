import { append } from '../../../lib/values/append.js';
import { internalValue, labelsValue, selectorValue } from '../../core/internal-form/internal-value.js';
import { type FieldErrors, FieldPath, invalid, notSupported, required } from '../../../machinery/field-error.js';
import { validateNonNegative } from '../../../machinery/validation/fields.js';
import { isEmptySelector, validateLabelSelector } from '../../../machinery/validation/label-selector.js';
import type { DaemonSetSpec, DaemonSetStatus, DaemonSetUpdateStrategy } from '../../../schema/generated/apps.v1.js';
import { validateCollisionCount, validateCounts } from '../../core/pod/replica-status.js';
import type { PodRules } from '../../core/pod/validation/pod-rules.js';
import { validatePodTemplateSpec } from '../../core/pod/validation/pod.js';
import { validateKeptRunning } from '../../core/pod/validation/workload-template.js';
import { numberIn, validateAtMostWhole, validateIntOrPercent } from '../shared/int-or-percent.js';
import { compiledSelector } from '../shared/selector.js';

const SPEC = FieldPath.of('spec');
const STATUS = FieldPath.of('status');

export function validateDaemonSetSpec(spec: Readonly<DaemonSetSpec>, rules: PodRules): FieldErrors {
  const { selector, template } = spec;
  const path = SPEC.child('template');
  const options = { allowInvalidLabelValue: rules.allowInvalidAffinityLabelValue };
  const errors = validateLabelSelector(selector, options, SPEC.child('selector'));
  const compiled = compiledSelector(selector);
  if (compiled !== undefined && !compiled.matches(template.metadata.labels)) {
    const why = '`selector` does not match template `labels`';
    errors.push(invalid(path.child('metadata', 'labels'), labelsValue(template.metadata), why));
  }
  if (selector && isEmptySelector(selector)) {
    errors.push(invalid(SPEC.child('selector'), selectorValue(selector), 'empty selector is invalid for daemonset'));
  }
  append(
    errors,
    validatePodTemplateSpec(template, path, rules),
    validateKeptRunning(template, 'DaemonSet', path),
    validateNonNegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    validateUpdateStrategy(spec.updateStrategy, SPEC.child('updateStrategy')),
    validateNonNegative(spec.revisionHistoryLimit, SPEC.child('revisionHistoryLimit')),
  );
  return errors;
}

export const validateDaemonSetStatus = (
  status: Readonly<DaemonSetStatus>,
  old: Readonly<DaemonSetStatus>,
): FieldErrors => [
  ...validateCounts(
    status,
    [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ],
    STATUS,
  ),
  ...validateCollisionCount(status, old, STATUS),
];

function validateUpdateStrategy(strategy: Readonly<DaemonSetUpdateStrategy>, path: FieldPath): FieldErrors {
  const { type, rollingUpdate } = strategy;
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') {
    return [notSupported(path, internalValue('DaemonSetUpdateStrategy', strategy), ['RollingUpdate', 'OnDelete'])];
  }
  const at = path.child('rollingUpdate');
  if (!rollingUpdate) return [required(at)];
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate;
  const errors = [
    ...validateIntOrPercent(maxUnavailable, at.child('maxUnavailable')),
    ...validateIntOrPercent(maxSurge, at.child('maxSurge')),
    ...validateAtMostWhole(maxUnavailable, at.child('maxUnavailable')),
    ...validateAtMostWhole(maxSurge, at.child('maxSurge')),
  ];
  // A node runs either one pod less or one more while it is updated, never both.
  const missing = numberIn(maxUnavailable) !== 0;
  const surplus = numberIn(maxSurge) !== 0;
  if (missing && surplus) {
    errors.push(invalid(at.child('maxSurge'), maxSurge, 'may not be set when maxUnavailable is non-zero'));
  } else if (!missing && !surplus) {
    errors.push(required(at.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0'));
  }
  return errors;
}
