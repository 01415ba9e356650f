import {
  type FieldErrors,
  FieldPath,
  duplicate,
  invalid,
  notSupported,
  required,
  named,
} from '../../machinery/field-error.js';
import type { ValidatingAdmissionPolicyBindingSpec } from '../../schema/generated/admissionregistration.v1.js';
import type { MutatingAdmissionPolicyBindingSpec } from '../../schema/generated/admissionregistration.v1beta1.js';
import {
  validateMatchResources,
  validateMutatingOperations,
  validateParamRef,
  validatePolicyName,
} from './match-resources.js';

const ACTIONS = ['Audit', 'Deny', 'Warn'];
const DENY_AND_WARN =
  'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
const SPEC = FieldPath.of('spec');

export const validateBindingSpec = (spec: Readonly<ValidatingAdmissionPolicyBindingSpec>): FieldErrors => [
  ...validateReferences(spec),
  ...validateActions(spec.validationActions ?? [], SPEC.child('validationActions')),
];

export const validateMutatingBindingSpec = (spec: Readonly<MutatingAdmissionPolicyBindingSpec>): FieldErrors => [
  ...validateReferences(spec),
  ...validateMutatingOperations(spec.matchResources, SPEC.child('matchResources')),
];

const validateReferences = (spec: Readonly<MutatingAdmissionPolicyBindingSpec>): FieldErrors => [
  ...validatePolicyName(spec.policyName ?? '', SPEC.child('policyName')),
  ...validateParamRef(spec.paramRef, SPEC.child('paramRef')),
  ...validateMatchResources(spec.matchResources, SPEC.child('matchResources')),
];

function validateActions(actions: readonly string[], path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const [i, action] of actions.entries()) {
    if (!ACTIONS.includes(action)) errors.push(notSupported(path.index(i), action, ACTIONS));
    if (actions.indexOf(action) < i) errors.push(duplicate(path.index(i), named(action)));
  }
  if (actions.includes('Deny') && actions.includes('Warn')) errors.push(invalid(path, actions, DENY_AND_WARN));
  if (actions.length === 0) errors.push(required(path, 'at least one validation action is required'));
  return errors;
}
