import { append } from '../../lib/values/append.js';
import { type FieldErrors, type FieldPath, required } from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { isDns1123Subdomain, pathSegmentName } from '../../machinery/validation/names.js';

interface TypedReference {
  apiGroup?: string | null;
  kind: string;
  name: string;
}

/** A reference to an object of any kind, by what can stand in its address. */
export function validateTypedReference(
  { apiGroup, kind, name }: Readonly<TypedReference>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (apiGroup !== undefined && apiGroup !== null) {
    append(errors, invalidEach(path.child('apiGroup'), apiGroup, isDns1123Subdomain(apiGroup)));
  }
  append(errors, requiredSegment(kind, path.child('kind')), requiredSegment(name, path.child('name')));
  return errors;
}

export const requiredSegment = (value: string, path: FieldPath): FieldErrors =>
  value === '' ? [required(path)] : invalidEach(path, value, pathSegmentName(value, false));
