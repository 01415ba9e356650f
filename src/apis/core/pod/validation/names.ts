// Name rules as errors at a path.
import type { FieldErrors, FieldPath } from '../../../../machinery/field-error.js';
import { invalidEach } from '../../../../machinery/validation/fields.js';
import {
  isDns1123Label,
  isDns1123Subdomain,
  isQualifiedName,
  isValidPortName,
  isValidPortNum,
} from '../../../../machinery/validation/names.js';

export const validateDnsLabel = (value: string, path: FieldPath): FieldErrors =>
  invalidEach(path, value, isDns1123Label(value));
export const validateDnsSubdomain = (value: string, path: FieldPath): FieldErrors =>
  invalidEach(path, value, isDns1123Subdomain(value));
export const validateQualifiedName = (value: string, path: FieldPath): FieldErrors =>
  invalidEach(path, value, isQualifiedName(value));

export const validatePortNumberOrName = (port: number | string, path: FieldPath): FieldErrors =>
  invalidEach(path, port, typeof port === 'number' ? isValidPortNum(port) : isValidPortName(port));
