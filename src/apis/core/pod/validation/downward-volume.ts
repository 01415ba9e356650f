import { append } from '../../../../lib/values/append.js';
import { type FieldErrors, type FieldPath, invalid, required } from '../../../../machinery/field-error.js';
import type { DownwardAPIVolumeFile, DownwardAPIVolumeSource } from '../../../../schema/generated/core.v1.js';
import { validateFieldReference, validateResourceReference } from './env.js';
import { validateFileMode, validateLocalNonReservedPath } from './paths.js';

const FIELDS = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];

export const validateDownwardVolume = (
  { defaultMode, items }: Readonly<DownwardAPIVolumeSource>,
  path: FieldPath,
): FieldErrors => [
  ...validateFileMode(defaultMode, path.child('defaultMode')),
  ...(items ?? []).flatMap((file) => validateDownwardFile(file, path)),
];

/** The path is that of the list's owner: kube-apiserver names no item. */
export function validateDownwardFile(file: Readonly<DownwardAPIVolumeFile>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (file.path === '') errors.push(required(path.child('path')));
  append(errors, validateLocalNonReservedPath(file.path, path.child('path')));
  if (file.fieldRef) {
    append(errors, validateFieldReference(file.fieldRef, FIELDS, path.child('fieldRef')));
    if (file.resourceFieldRef) {
      const why = 'fieldRef and resourceFieldRef can not be specified simultaneously';
      errors.push(invalid(path, 'resource', why));
    }
  } else if (file.resourceFieldRef) {
    append(errors, validateResourceReference(file.resourceFieldRef, true, path.child('resourceFieldRef')));
  } else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  append(errors, validateFileMode(file.mode, path.child('mode')));
  return errors;
}
