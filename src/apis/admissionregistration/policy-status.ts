import { append } from '../../lib/values/append.js';
import { type FieldErrors, FieldPath, invalid, required } from '../../machinery/field-error.js';
import { jsonPathError } from '../../machinery/json-path.js';
import { validateConditions } from '../../machinery/validation/conditions.js';
import type { ValidatingAdmissionPolicyStatus } from '../../schema/generated/admissionregistration.v1.js';

export function validatePolicyStatus({ typeChecking, conditions }: ValidatingAdmissionPolicyStatus): FieldErrors {
  const errors: FieldErrors = [];
  const path = FieldPath.of('status');
  for (const [i, { fieldRef, warning }] of (typeChecking?.expressionWarnings ?? []).entries()) {
    const at = path.child('typeChecking', 'expressionWarnings').index(i);
    if (warning === '') errors.push(required(at.child('warning')));
    const reference = fieldRef.trim();
    if (reference === '') {
      errors.push(required(at.child('fieldRef')));
      continue;
    }
    const why = jsonPathError(`{${reference}}`);
    if (why !== undefined) errors.push(invalid(at.child('fieldRef'), reference, `invalid JSONPath: ${why}`));
  }
  append(errors, validateConditions(conditions, path.child('conditions')));
  return errors;
}
