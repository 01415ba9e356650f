import { append } from '../../../lib/values/append.js';
import { type FieldErrors, FieldPath, required } from '../../../machinery/field-error.js';
import { LabelSelector } from '../../../machinery/label-selector.js';
import { validateNonNegative } from '../../../machinery/validation/fields.js';
import type { ReplicationControllerSpec, ReplicationControllerStatus } from '../../../schema/generated/core.v1.js';
import { validateCounts, validateReplicaCounts } from '../pod/replica-status.js';
import type { PodRules } from '../pod/validation/pod-rules.js';
import { validateReplicatedTemplate } from '../pod/validation/workload-template.js';

const SPEC = FieldPath.of('spec');
const STATUS = FieldPath.of('status');

export function validateControllerSpec(spec: Readonly<ReplicationControllerSpec>, rules: PodRules): FieldErrors {
  const selector = LabelSelector.fromLabels(spec.selector);
  const errors = validateNonNegative(spec.minReadySeconds, SPEC.child('minReadySeconds'));
  if (selector.empty) errors.push(required(SPEC.child('selector')));
  if (spec.replicas === undefined) errors.push(required(SPEC.child('replicas')));
  else append(errors, validateNonNegative(spec.replicas, SPEC.child('replicas')));
  const path = SPEC.child('template');
  if (!spec.template) errors.push(required(path));
  else
    append(
      errors,
      validateReplicatedTemplate({ template: spec.template, selector, kind: 'ReplicationController', path, rules }),
    );
  return errors;
}

export const validateControllerStatus = (status: Readonly<ReplicationControllerStatus>): FieldErrors => [
  ...validateCounts(
    status,
    ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'],
    STATUS,
  ),
  ...validateReplicaCounts(
    status,
    ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
    'readyReplicas',
    STATUS,
  ),
];
