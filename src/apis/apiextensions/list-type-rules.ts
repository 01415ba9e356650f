// How lists and maps merge: `x-kubernetes-list-type`, its keys, and `x-kubernetes-map-type`.
import { append } from '../../lib/values/append.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  required,
  plainNotSupported,
  named,
} from '../../machinery/field-error.js';
import { shownItems } from './internal-form.js';
import { type Schema, itemsOf } from './schema-walk.js';

export interface ListTypeRules {
  readonly atomicSets: boolean;
  readonly mapKeys: boolean;
}

const LIST_TYPES = ['atomic', 'set', 'map'];
const MAP_TYPES = ['atomic', 'granular'];

export function validateMapType(schema: Schema, path: FieldPath): FieldErrors {
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return [];
  const errors = validateTypeFor('object', 'x-kubernetes-map-type', schema, path);
  if (!MAP_TYPES.includes(mapType)) {
    errors.push(plainNotSupported(path.child('x-kubernetes-map-type'), mapType, MAP_TYPES));
  }
  return errors;
}

export function validateListType(schema: Schema, rules: ListTypeRules, path: FieldPath): FieldErrors {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const at = path.child('x-kubernetes-list-type');
  const errors: FieldErrors = [];
  if (listType !== undefined) {
    const wrongType = validateTypeFor('array', 'x-kubernetes-list-type', schema, path);
    if (wrongType.length > 0) append(errors, wrongType);
    else if (rules.atomicSets) append(errors, validateSetItems(schema, path));
    if (!LIST_TYPES.includes(listType)) errors.push(plainNotSupported(at, listType, LIST_TYPES));
  }
  if (keys.length > 0 && listType !== 'map') {
    const why = 'must be map if x-kubernetes-list-map-keys is non-empty';
    errors.push(listType === undefined ? required(at, why) : invalid(at, listType, why));
  }
  if (listType === 'map') append(errors, validateMapList(schema, keys, path));
  if (rules.mapKeys) append(errors, validateMapKeys(schema, path));
  return errors;
}

function validateTypeFor(wanted: string, member: string, schema: Schema, path: FieldPath): FieldErrors {
  const type = schema.type ?? '';
  if (type === wanted) return [];
  const why = `must be ${wanted} if ${member} is specified`;
  return [type === '' ? required(path.child('type'), why) : invalid(path.child('type'), type, why)];
}

export const hasNonAtomicSet = (schema: Schema): boolean => nonAtomicSetMember(schema) !== undefined;

function validateSetItems(schema: Schema, path: FieldPath): FieldErrors {
  const member = nonAtomicSetMember(schema);
  if (member === undefined) return [];
  // The list type is shown for both, unset too: a slip clients have seen ever since.
  const shown = itemsOf(schema)?.['x-kubernetes-list-type'] ?? null;
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  return [invalid(path.child('items', member), named(shown), why)];
}

/** Members of sets are compared whole, so they must be owned whole, too. */
function nonAtomicSetMember(schema: Schema): 'x-kubernetes-list-type' | 'x-kubernetes-map-type' | undefined {
  const items = itemsOf(schema);
  if (schema['x-kubernetes-list-type'] !== 'set' || items === undefined) return undefined;
  if (items.type === 'array' && (items['x-kubernetes-list-type'] ?? 'atomic') !== 'atomic') {
    return 'x-kubernetes-list-type';
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') return 'x-kubernetes-map-type';
  return undefined;
}

function validateMapList(schema: Schema, keys: readonly string[], path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const items = itemsOf(schema);
  const keysPath = path.child('x-kubernetes-list-map-keys');
  if (keys.length === 0) errors.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
  if (schema.items === undefined) {
    errors.push(required(path.child('items'), 'must have a schema if x-kubernetes-list-type is map'));
  } else if (items === undefined) {
    const why = 'must only have a single schema if x-kubernetes-list-type is map';
    errors.push(invalid(path.child('items'), shownItems(schema), why));
  } else if (items.type !== 'object') {
    const why = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(path.child('items', 'type'), items.type ?? '', why));
  } else {
    for (const [i, key] of keys.entries()) {
      const property = items.properties?.[key];
      if (property === undefined) {
        errors.push(invalid(keysPath, keys, 'entries must all be names of item properties'));
      } else if (property.type === 'array' || property.type === 'object') {
        const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        errors.push(invalid(path.child('items', 'properties').key(key).child('type'), items.type, why));
      }
      if (keys.indexOf(key) < i) errors.push(invalid(keysPath, keys, 'must not contain duplicate entries'));
    }
  }
  return errors;
}

/** Keys identify items, so they are required; and no item is null. */
export function validateMapKeys(schema: Schema, path: FieldPath): FieldErrors {
  const items = itemsOf(schema);
  const listType = schema['x-kubernetes-list-type'];
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return [];
  const errors: FieldErrors = [];
  if (items.nullable) {
    const why = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(forbidden(path.child('items', 'nullable'), why));
  }
  if (listType === 'set') return errors;
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = items.properties?.[key];
    if (property === undefined) continue;
    const at = path.child('items', 'properties').key(key);
    if (!items.required?.includes(key) && property.default === undefined) {
      const why = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      errors.push(required(at.child('default'), why));
    }
    if (property.nullable) {
      const why = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
      errors.push(forbidden(at.child('nullable'), why));
    }
  }
  return errors;
}
