import { CelList, CelMap, Duration, OpaqueValue, Timestamp, Uint } from '../value.js';
import { FIRST_SECOND } from './arithmetic.js';
import type { Value } from '../value.js';

/** Whether a value is the zero or empty value of its type. */
export function isZeroValue(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return !value;
    case 'bigint':
      return value === 0n;
    case 'number':
      return value === 0;
    case 'string':
      return value === '';
    default:
  }
  if (value === null) return true;
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.seconds === FIRST_SECOND && value.nanos === 0;
  return value instanceof OpaqueValue && value.isZero?.() === true;
}
