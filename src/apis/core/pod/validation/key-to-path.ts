// A key of a config map or secret and the file it becomes.
import { type FieldErrors, type FieldPath, required } from '../../../../machinery/field-error.js';
import type { KeyToPath } from '../../../../schema/generated/core.v1.js';
import { validateFileMode, validateLocalNonReservedPath } from './paths.js';

export const validateKeyToPath = ({ key, path: file, mode }: Readonly<KeyToPath>, path: FieldPath): FieldErrors => [
  ...(key ? [] : [required(path.child('key'))]),
  ...(file ? [] : [required(path.child('path'))]),
  ...validateLocalNonReservedPath(file, path.child('path')),
  ...validateFileMode(mode, path.child('mode')),
];
