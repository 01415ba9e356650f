import { append } from '../../../lib/values/append.js';
import { type FieldErrors, FieldPath } from '../../../machinery/field-error.js';
import { validateNonNegative } from '../../../machinery/validation/fields.js';
import type { ReplicaSetSpec, ReplicaSetStatus } from '../../../schema/generated/apps.v1.js';
import { validateCounts, validateReplicaCounts } from '../../core/pod/replica-status.js';
import type { PodRules } from '../../core/pod/validation/pod-rules.js';
import { validateReplicaTemplate } from '../shared/replica-template.js';
import { validateOwnSelector } from '../shared/selector.js';

const SPEC = FieldPath.of('spec');
const STATUS = FieldPath.of('status');

export function validateReplicaSetSpec(spec: Readonly<ReplicaSetSpec>, rules: PodRules): FieldErrors {
  const errors = [
    ...validateNonNegative(spec.replicas, SPEC.child('replicas')),
    ...validateNonNegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    // Replica sets borrow the word, and so does kube-apiserver's error.
    ...validateOwnSelector(spec.selector, 'deployment', SPEC.child('selector')),
  ];
  append(errors, validateReplicaTemplate(spec, SPEC, rules));
  return errors;
}

export const validateReplicaSetStatus = (status: Readonly<ReplicaSetStatus>): FieldErrors => [
  ...validateCounts(
    status,
    [
      'replicas',
      'fullyLabeledReplicas',
      'readyReplicas',
      'availableReplicas',
      'observedGeneration',
      'terminatingReplicas',
    ],
    STATUS,
  ),
  ...validateReplicaCounts(
    status,
    ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
    'readyReplicas',
    STATUS,
  ),
];
