import { append } from '../../../lib/values/append.js';
import { selectorValue } from '../../core/internal-form/internal-value.js';
import { type FieldErrors, FieldPath, invalid } from '../../../machinery/field-error.js';
import { validateNonNegative } from '../../../machinery/validation/fields.js';
import type { ReplicaSetSpec, ReplicaSetStatus } from '../../../schema/generated/apps.v1.js';
import { validateCounts, validateReplicaCounts } from '../../core/pod/replica-status.js';
import type { PodRules } from '../../core/pod/validation/pod-rules.js';
import { validateReplicatedTemplate } from '../../core/pod/validation/workload-template.js';
import { compiledSelector, validateOwnSelector } from '../shared/selector.js';

const SPEC = FieldPath.of('spec');
const STATUS = FieldPath.of('status');

export function validateReplicaSetSpec(spec: Readonly<ReplicaSetSpec>, rules: PodRules): FieldErrors {
  const errors = [
    ...validateNonNegative(spec.replicas, SPEC.child('replicas')),
    ...validateNonNegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    // Replica sets borrow the word, and so does kube-apiserver's error.
    ...validateOwnSelector(spec.selector, 'deployment', SPEC.child('selector')),
  ];
  const selector = compiledSelector(spec.selector);
  if (selector === undefined)
    errors.push(invalid(SPEC.child('selector'), selectorValue(spec.selector), 'invalid label selector'));
  else
    append(
      errors,
      validateReplicatedTemplate({
        template: spec.template,
        selector,
        kind: 'ReplicaSet',
        path: SPEC.child('template'),
        rules,
      }),
    );
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
