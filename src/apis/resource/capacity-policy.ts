// What a request for a part of a device's capacity may be: one of some values, or a value in a range.
import { append } from '../../lib/values/append.js';
import { type FieldErrors, type FieldPath, forbidden, invalid, required } from '../../machinery/field-error.js';
import { addQuantities, compareQuantities, formatQuantity, scaledValue } from '../../machinery/quantity.js';
import type { CapacityRequestPolicyRange, DeviceCapacity } from '../../schema/generated/resource.v1.js';
import { validateSet } from './collection-rules.js';

const MAX_VALUES = 10;

export function validateCapacityPolicy(
  { value: capacity, requestPolicy }: Readonly<DeviceCapacity>,
  path: FieldPath,
): FieldErrors {
  if (requestPolicy === undefined) return [];
  const { validValues = [], validRange } = requestPolicy;
  const wanted = requestPolicy.default;
  if (validValues.length > 0 && validRange !== undefined) {
    const why = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';
    return [forbidden(path, why)];
  }
  if (validValues.length > 0) {
    if (wanted === null) return [required(path.child('default'), 'required when validValues is defined')];
    return validateValues(validValues, wanted, capacity, path.child('validValues'));
  }
  if (validRange === undefined) return [];
  if (wanted === null) return [required(path.child('default'), 'required when validRange is defined')];
  return validateRange(validRange, wanted, capacity, path.child('validRange'));
}

function validateValues(values: readonly string[], wanted: string, capacity: string, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, value] of values.entries()) {
    const before = values[position - 1];
    if (before !== undefined && compareQuantities(before, value) > 0) {
      errors.push(invalid(path.index(position), value, 'values must be sorted in ascending order'));
    }
  }
  append(
    errors,
    validateSet(values, path, {
      item: (value, at) =>
        compareQuantities(value, capacity) > 0
          ? [invalid(at, value, `option is larger than capacity value: ${capacity}`)]
          : [],
      key: (value) => String(scaledValue(value)),
      maxSize: MAX_VALUES,
    }),
  );
  if (!values.some((value) => compareQuantities(value, wanted) === 0)) {
    errors.push(invalid(path, wanted, 'default value is not valid according to the requestPolicy'));
  }
  return errors;
}

function validateRange(
  range: Readonly<CapacityRequestPolicyRange>,
  wanted: string,
  capacity: string,
  path: FieldPath,
): FieldErrors {
  const { min, max, step } = range;
  if (min === undefined) return [required(path.child('min'), 'required when validRange is defined')];
  const errors: FieldErrors = [];
  const refuse = (member: string, value: string, why: string) => errors.push(invalid(path.child(member), value, why));
  const above = (a: string, b: string): boolean => compareQuantities(a, b) > 0;
  if (above(min, capacity)) refuse('min', min, `min is larger than capacity value: ${capacity}`);
  if (above(min, wanted)) refuse('min', wanted, `default is less than min: ${min}`);
  if (max !== undefined) {
    if (above(min, max)) refuse('max', min, `min is larger than max: ${max}`);
    if (above(max, capacity)) refuse('max', max, `max is larger than capacity value: ${capacity}`);
    if (above(wanted, max)) refuse('max', wanted, `default is more than max: ${max}`);
  }
  if (step === undefined) return errors;
  const first = formatQuantity(addQuantities(min, step));
  if (above(first, capacity)) refuse('step', step, `one step ${first} is larger than capacity value: ${capacity}`);
  for (const value of max === undefined ? [wanted] : [wanted, max]) {
    if (!isOnStep(value, min, step)) {
      refuse('step', value, `value is not a multiple of a given step (${step}) from (${min})`);
    }
  }
  return errors;
}

function isOnStep(value: string, min: string, step: string): boolean {
  const width = scaledValue(step);
  return width !== 0n && (scaledValue(value) - scaledValue(min)) % width === 0n;
}
