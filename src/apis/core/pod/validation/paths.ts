// File paths inside a pod: volumes' items, mounts, profiles.
import { type FieldErrors, type FieldPath, invalid } from '../../../../machinery/field-error.js';

const FILE_MODE = 'must be a number between 0 and 0777 (octal), both inclusive';

const isAbsolute = (path: string): boolean => path.startsWith('/');
export const climbs = (path: string): boolean => path.includes('..') && path.split('/').includes('..');

export const validateNoBacksteps = (target: string, path: FieldPath): FieldErrors =>
  climbs(target) ? [invalid(path, target, "must not contain '..'")] : [];

/** A relative path that stays below where it starts. */
export function validateLocalDescendingPath(target: string, path: FieldPath): FieldErrors {
  const errors = validateNoBacksteps(target, path);
  if (isAbsolute(target)) errors.unshift(invalid(path, target, 'must be a relative path'));
  return errors;
}

/** Names beginning with two dots belong to the node's own bookkeeping in volumes. */
export function validateLocalNonReservedPath(target: string, path: FieldPath): FieldErrors {
  const errors = validateLocalDescendingPath(target, path);
  if (target.startsWith('..') && !target.startsWith('../')) {
    errors.push(invalid(path, target, "must not start with '..'"));
  }
  return errors;
}

export const validateAbsolutePath = (target: string, path: FieldPath): FieldErrors =>
  isAbsolute(target) ? [] : [invalid(path, target, 'must be an absolute path')];

export const validateFileMode = (mode: number | undefined, path: FieldPath): FieldErrors =>
  mode !== undefined && (mode > 0o777 || mode < 0) ? [invalid(path, mode, FILE_MODE)] : [];
