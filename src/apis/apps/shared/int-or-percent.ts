import { type FieldErrors, type FieldPath, invalid, named } from '../../../machinery/field-error.js';
import { invalidEach, validateNonNegative } from '../../../machinery/validation/fields.js';
import { isValidPercent } from '../../../machinery/validation/names.js';

type IntOrPercent = number | string;

/** A count, or a part of the whole: `5` or `25%`. */
export const validateIntOrPercent = (value: IntOrPercent, path: FieldPath): FieldErrors =>
  typeof value === 'string' ? invalidEach(path, named(value), isValidPercent(value)) : validateNonNegative(value, path);

export function validateAtMostWhole(value: IntOrPercent, path: FieldPath): FieldErrors {
  const percent = percentOf(value);
  return percent === undefined || percent <= 100 ? [] : [invalid(path, value, 'must not be greater than 100%')];
}

/** The number in either form; 0 for a text that is neither. */
export function numberIn(value: IntOrPercent): number {
  if (typeof value === 'number') return value;
  const plain = /^[+-]?\d+$/.test(value) ? Number(value) : 0;
  return percentOf(value) ?? plain;
}

const percentOf = (value: IntOrPercent): number | undefined =>
  typeof value === 'string' && isValidPercent(value).length === 0 ? Number(value.slice(0, -1)) : undefined;
