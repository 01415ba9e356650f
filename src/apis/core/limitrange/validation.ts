import { append } from '../../../lib/values/append.js';
import { ownMember } from '../../../lib/values/plain-object.js';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  required,
  named,
} from '../../../machinery/field-error.js';
import { compareQuantities, scaledValue } from '../../../machinery/quantity.js';
import { invalidEach } from '../../../machinery/validation/fields.js';
import { isQualifiedName } from '../../../machinery/validation/names.js';
import type { LimitRange, LimitRangeItem } from '../../../schema/generated/core.v1.js';
import {
  isOvercommitAllowed,
  validateContainerResourceName,
  validateResourceName,
} from '../pod/validation/resource-names.js';
import { sortedKeys } from '../shared/key-values.js';

const LIMITS = FieldPath.of('spec', 'limits');
const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];
/** Beyond this a number of thousandths does not fit 64 bits. */
const LARGEST_MILLI = (2n ** 63n - 1n) / 1000n;

export function validateLimitRange({ spec }: Readonly<LimitRange>): FieldErrors {
  const seen = new Set<string>();
  return (spec.limits ?? []).flatMap((item, position) => {
    const path = LIMITS.index(position);
    const errors = validateType(item.type, path.child('type'));
    if (seen.has(item.type)) errors.push(duplicate(path.child('type'), named(item.type)));
    seen.add(item.type);
    append(errors, validateNames(item, path));
    for (const name of namesOf(item)) append(errors, validateAmounts(item, name, path));
    return errors;
  });
}

function validateType(type: string, path: FieldPath): FieldErrors {
  const errors = invalidEach(path, named(type), isQualifiedName(type));
  if (errors.length > 0 || type.includes('/') || TYPES.includes(type)) return errors;
  return [invalid(path, named(type), 'must be a standard limit type or fully qualified')];
}

function validateNames(item: Readonly<LimitRangeItem>, path: FieldPath): FieldErrors {
  const forPods = item.type === 'Pod' || item.type === 'Container';
  const rule = forPods ? validateContainerResourceName : validateResourceName;
  const names = (member: 'max' | 'min' | 'default' | 'defaultRequest' | 'maxLimitRequestRatio'): FieldErrors =>
    sortedKeys(item[member]).flatMap((name) => rule(name, path.child(member).key(name)));
  const errors = [...names('max'), ...names('min')];
  for (const member of ['default', 'defaultRequest'] as const) {
    if (item.type !== 'Pod') append(errors, names(member));
    else if (sortedKeys(item[member]).length > 0) {
      errors.push(forbidden(path.child(member), "may not be specified when `type` is 'Pod'"));
    }
  }
  const claim = item.type === 'PersistentVolumeClaim';
  if (claim && item.min?.['storage'] === undefined && item.max?.['storage'] === undefined) {
    const why = 'either minimum or maximum storage value is required, but neither was provided';
    errors.push(required(path.child('limits'), why));
  }
  append(errors, names('maxLimitRequestRatio'));
  return errors;
}

/** Every resource an item says anything about. A pod's defaults are refused already and not looked at again. */
function namesOf(item: Readonly<LimitRangeItem>): string[] {
  const lists = [item.max, item.min, item.maxLimitRequestRatio];
  if (item.type !== 'Pod') lists.push(item.default, item.defaultRequest);
  return [...new Set(lists.flatMap(sortedKeys))].sort();
}

function validateAmounts(item: Readonly<LimitRangeItem>, name: string, path: FieldPath): FieldErrors {
  const min = ownMember(item.min, name);
  const max = ownMember(item.max, name);
  const ratio = ownMember(item.maxLimitRequestRatio, name);
  const limit = item.type === 'Pod' ? undefined : ownMember(item.default, name);
  const request = item.type === 'Pod' ? undefined : ownMember(item.defaultRequest, name);
  const errors: FieldErrors = [];
  const ordered = (low: Amount, high: Amount, member: string, shown: 'low' | 'high'): void => {
    if (low.value === undefined || high.value === undefined || compareQuantities(low.value, high.value) <= 0) return;
    const why = `${low.name} value ${low.value} is greater than ${high.name} value ${high.value}`;
    errors.push(invalid(path.child(member).key(name), shown === 'low' ? low.value : high.value, why));
  };
  ordered({ name: 'min', value: min }, { name: 'max', value: max }, 'min', 'low');
  ordered({ name: 'min', value: min }, { name: 'default request', value: request }, 'defaultRequest', 'high');
  ordered({ name: 'default request', value: request }, { name: 'max', value: max }, 'defaultRequest', 'low');
  ordered(
    { name: 'default request', value: request },
    { name: 'default limit', value: limit },
    'defaultRequest',
    'low',
  );
  ordered({ name: 'min', value: min }, { name: 'default', value: limit }, 'default', 'low');
  ordered({ name: 'default', value: limit }, { name: 'max', value: max }, 'default', 'high');
  if (ratio !== undefined) append(errors, validateRatio(ratio, min, max, path.child('maxLimitRequestRatio').key(name)));
  const mismatch = limit !== undefined && request !== undefined && compareQuantities(limit, request) !== 0;
  if (!isOvercommitAllowed(name) && mismatch) {
    const why = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
    errors.push(invalid(path.child('defaultRequest').key(name), request, why));
  }
  return errors;
}

interface Amount {
  readonly name: string;
  readonly value: string | undefined;
}

function validateRatio(ratio: string, min: string | undefined, max: string | undefined, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (compareQuantities(ratio, '1') < 0) errors.push(invalid(path, ratio, `ratio ${ratio} is less than 1`));
  if (min === undefined || max === undefined) return errors;
  const small = [ratio, min, max].every((quantity) => scaledValue(quantity) < LARGEST_MILLI);
  const scale = small ? -3 : 0;
  const highest = Number(scaledValue(max, scale)) / Number(scaledValue(min, scale));
  const wanted = small ? Number(scaledValue(ratio, -3)) / 1000 : Number(scaledValue(ratio));
  if (wanted > highest) {
    errors.push(invalid(path, ratio, `ratio ${ratio} is greater than max/min = ${highest.toFixed(6)}`));
  }
  return errors;
}
