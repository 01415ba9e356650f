// What the writer of a new object owns: everything in it that an object with nothing set has not.
//
// The same as comparing with the zero object, without the field sets of a comparison: nobody else owns anything yet,
// so what is found is written down at once.
import { sortFew } from '../../lib/sort-few.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Field, StructType, Type } from '../type.js';
import { FieldSet } from './field-set.js';
import { compareElements } from './path-element.js';
import {
  isEmptyObject,
  isObject,
  itemElement,
  type ListShape,
  type MapShape,
  memberOf,
  shapeOf,
  valuesEqual,
} from './shape.js';
import { zeroOf } from './zero.js';

/** Fields that are left out. */
export interface Unowned {
  /** Nobody owns these, but may own what lies below. */
  readonly system: FieldSet;
  /** Nor what lies below these. */
  readonly reset: FieldSet;
}

/** In the wire form of a field set; undefined when nothing is owned. Throws TypedValueError as a comparison does. */
// hot: on every create.
export function newFields(object: Readonly<JsonObject>, type: StructType, unowned: Unowned): JsonObject | undefined {
  return visit(zeroOf(type), object, type, undefined, unowned);
}

function visit(
  zero: unknown,
  value: unknown,
  type: Type,
  field: Field | undefined,
  unowned: Unowned,
): JsonObject | undefined {
  if (zero === value) return undefined;
  const shape = shapeOf(type, field, value);
  if (shape.kind === 'scalar' || shape.atomic || (nothingIn(zero) && nothingIn(value))) {
    return zero === undefined || !valuesEqual(zero, value) ? {} : undefined;
  }
  const fields: JsonObject = zero === undefined ? { '.': {} } : {};
  if (shape.kind === 'list') addItems(fields, value, shape, unowned);
  else addMembers(fields, isObject(zero) ? zero : {}, value, shape, unowned);
  if (zero !== undefined) return isEmptyObject(fields) ? undefined : fields;
  return onlyItself(fields) ? {} : fields;
}

const nothingIn = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isEmptyObject(value as JsonObject);
};

/** Its own `.` was set first. */
function onlyItself(fields: JsonObject): boolean {
  for (const name in fields) if (name !== '.') return false;
  return true;
}

function addMembers(fields: JsonObject, zero: JsonObject, value: unknown, shape: MapShape, unowned: Unowned): void {
  if (!isObject(value)) return;
  for (const name of sorted(Object.keys(value))) {
    const { element, type, field } = memberOf(shape, name);
    if (type === undefined) continue;
    const before = Object.hasOwn(zero, name) ? zero[name] : undefined;
    add(fields, element, before, value[name], type, field, unowned);
  }
}

/** A config map may have thousands of members; most objects have a few. */
const FEW = 16;
const sorted = (names: string[]): string[] => (names.length <= FEW ? sortFew(names) : names.sort());

/** Items that cannot be told apart count as one value at their step. */
function addItems(fields: JsonObject, value: unknown, shape: ListShape, unowned: Unowned): void {
  if (!Array.isArray(value)) return;
  const items = new Map<string, { readonly item: unknown; repeated: boolean }>();
  for (const item of value as unknown[]) {
    const element = itemElement(shape, item);
    const same = items.get(element);
    if (same === undefined) items.set(element, { item, repeated: false });
    else same.repeated = true;
  }
  const elements = items.size === 1 ? items.keys() : [...items.keys()].sort(compareElements);
  for (const element of elements) {
    const found = items.get(element);
    if (found === undefined || unowned.reset.hasMember(element)) continue;
    if (found.repeated) fields[element] = {};
    else add(fields, element, undefined, found.item, shape.element, undefined, unowned);
  }
}

function add(
  fields: JsonObject,
  element: string,
  zero: unknown,
  value: unknown,
  type: Type,
  field: Field | undefined,
  { system, reset }: Unowned,
): void {
  if (reset.hasMember(element)) return;
  const below =
    system.empty && reset.empty ? NOTHING_LEFT_OUT : { system: system.below(element), reset: reset.below(element) };
  const owned = visit(zero, value, type, field, below);
  if (owned === undefined) return;
  if (system.hasMember(element)) {
    if (owned['.'] !== undefined) delete owned['.'];
    if (isEmptyObject(owned)) return;
  }
  fields[element] = owned;
}

const NOTHING_LEFT_OUT: Unowned = { system: new FieldSet(), reset: new FieldSet() };
