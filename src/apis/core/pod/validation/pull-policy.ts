import { type FieldErrors, type FieldPath, notSupported, required } from '../../../../machinery/field-error.js';

const POLICIES = ['Always', 'IfNotPresent', 'Never'];

export function validatePullPolicy(policy: string | undefined, path: FieldPath): FieldErrors {
  if (!policy) return [required(path)];
  return POLICIES.includes(policy) ? [] : [notSupported(path, policy, POLICIES)];
}
