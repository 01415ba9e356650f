import { type FieldErrors, type FieldPath, invalid, required } from '../../machinery/field-error.js';
import { apiVersionFault, parseApiVersion } from '../../machinery/object.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { pathSegmentName } from '../../machinery/validation/names.js';
import type { CrossVersionObjectReference } from '../../schema/generated/autoscaling.v2.js';

export interface ReferenceRules {
  readonly allowInvalidApiVersion: boolean;
  readonly allowEmptyGroup: boolean;
}

export function validateReference(
  reference: Readonly<CrossVersionObjectReference>,
  path: FieldPath,
  rules: ReferenceRules,
): FieldErrors {
  const errors = [
    ...validateSegment(reference.kind, path.child('kind')),
    ...validateSegment(reference.name, path.child('name')),
  ];
  const problem = apiVersionProblem(reference, rules);
  if (problem !== undefined) errors.push(invalid(path.child('apiVersion'), reference.apiVersion ?? '', problem));
  return errors;
}

/** A text that is needed and stands as one segment of a URL path. */
export const validateSegment = (text: string, path: FieldPath, whenMissing = ''): FieldErrors =>
  text === '' ? [required(path, whenMissing)] : invalidEach(path, text, pathSegmentName(text, false));

export function apiVersionProblem(
  { apiVersion = '' }: Readonly<CrossVersionObjectReference>,
  { allowInvalidApiVersion, allowEmptyGroup }: ReferenceRules,
): string | undefined {
  if (allowInvalidApiVersion) return undefined;
  const fault = apiVersionFault(apiVersion);
  if (fault !== undefined) return fault;
  const { group } = parseApiVersion(apiVersion);
  return group === '' && !allowEmptyGroup ? 'apiVersion must specify API group' : undefined;
}
