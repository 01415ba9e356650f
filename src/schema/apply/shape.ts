// How server-side apply sees a type: what is one value, what is owned member by member, what identifies a list's item.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { sortItems } from '../../lib/values/sort-few.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Field, ListType, MapType, ScalarType, StructType, Type } from '../type.js';
import { compareText } from '../../lib/text/compare-text.js';
import { fieldElement, keyElement, valueElement } from './path-element.js';

/** Any JSON: objects are owned member by member, lists as one value. */
export const DEDUCED: ScalarType = { kind: 'scalar', scalar: 'any' };

/** A value that does not fit its type in a way that leaves no path to it. */
export class TypedValueError extends Error {}

export interface ListShape {
  readonly kind: 'list';
  readonly atomic: boolean;
  /** Names of the fields that identify an item; none: the items are a set of scalars. */
  readonly keys: readonly string[];
  readonly element: Type;
}

export interface MapShape {
  readonly kind: 'map';
  readonly atomic: boolean;
  /** The members with a name of their own in the type. */
  readonly named: ReadonlyMap<string, Member>;
  /** The type of all others; undefined when there are none. */
  readonly others: Type | undefined;
}

export type Shape = { readonly kind: 'scalar' } | ListShape | MapShape;

const SCALAR: Shape = { kind: 'scalar' };
const ATOMIC_LIST: ListShape = { kind: 'list', atomic: true, keys: [], element: DEDUCED };
/** Any JSON as one value, whatever its shape. */
const ATOMIC_ANY: MapShape = { kind: 'map', atomic: true, named: new Map(), others: DEDUCED };
const DEDUCED_MAP: MapShape = { kind: 'map', atomic: false, named: new Map(), others: DEDUCED };

/** `field` is the place the type stands at; list and map rules are said there. */
// hot: once for each value of a created object.
export function shapeOf(type: Type, field: Field | undefined, value: unknown): Shape {
  switch (type.kind) {
    case 'struct':
    case 'map':
      return (field?.mapType ?? type.mapType) === 'atomic'
        ? cached(ATOMIC_MAPS, type, atomicMap)
        : cached(MAPS, type, map);
    case 'list':
      return listShape(type, field);
    case 'scalar':
      if (type.scalar === 'rawExtension') return ATOMIC_ANY;
      if (!isDeduced(type)) return SCALAR;
      if (Array.isArray(value)) return ATOMIC_LIST;
      return typeof value === 'object' ? DEDUCED_MAP : SCALAR;
  }
}

export const isDeduced = (type: Type): boolean => type.kind === 'scalar' && DEDUCED_SCALARS.has(type.scalar);

const DEDUCED_SCALARS: ReadonlySet<ScalarType['scalar']> = new Set([
  'any',
  'fieldsV1',
  'schemaOrArray',
  'schemaOrBool',
  'schemaOrStringArray',
]);

export interface Member {
  readonly element: string;
  /** Undefined when the type has no such member. */
  readonly type: Type | undefined;
  /** Set for the named fields of a struct. */
  readonly field: Field | undefined;
}

class NamedMember implements Member {
  constructor(
    readonly element: string,
    readonly field: Field,
  ) {}

  /** Types refer to each other in circles, so a field's own type is read only when it is needed. */
  get type(): Type {
    return this.field.type;
  }
}

// hot: once for each member of a created object.
export const memberOf = ({ named, others }: MapShape, name: string): Member =>
  named.get(name) ?? { element: fieldElement(name), type: others, field: undefined };

/** The step to an item. Throws TypedValueError when the item cannot be distinguished from others. */
export function itemElement(list: ListShape, item: unknown): string {
  return list.keys.length > 0 ? keyedElement(list, item) : setElement(item);
}

function keyedElement(list: ListShape, item: unknown): string {
  if (item === null) throw new TypedValueError('associative list with keys may not have a null element');
  if (!isPlainObject(item)) throw new TypedValueError('associative list with keys may not have non-map elements');
  const fields: [string, unknown][] = [];
  for (const key of list.keys) {
    const value = Object.hasOwn(item, key) ? item[key] : keyDefault(list.element, key);
    if (value !== undefined) fields.push([key, value]);
  }
  if (fields.length === 0) {
    const keys = list.keys.map((key) => JSON.stringify(key)).join(' ');
    throw new TypedValueError(
      `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`,
    );
  }
  sortItems(fields, ([a], [b]) => compareText(a, b));
  return keyElement(fields);
}

function setElement(item: unknown): string {
  if (Array.isArray(item)) throw new TypedValueError('not supported: associative list with lists as elements');
  if (item === null) throw new TypedValueError("associative list without keys has an element that's an explicit null");
  if (typeof item === 'object')
    throw new TypedValueError("associative list without keys has an element that's a map type");
  return valueElement(item);
}

const ZERO: Partial<Record<ScalarType['scalar'], unknown>> = { string: '', int32: 0, int64: 0, bool: false };

/** Built-in fields that always print have their zero value as a default, as their OpenAPI says. */
function keyDefault(element: Type, key: string): unknown {
  const field = element.kind === 'struct' ? element.byJson.get(key) : undefined;
  if (field === undefined) return undefined;
  if (field.default !== undefined) return field.default;
  if (field.proto === 0 || field.omitEmpty || field.pointer || field.type.kind !== 'scalar') return undefined;
  return ZERO[field.type.scalar];
}

const LISTS = new WeakMap<Field, ListShape>();
const PLAIN_LISTS = new WeakMap<ListType, ListShape>();
const MAPS = new WeakMap<StructType | MapType, MapShape>();
const ATOMIC_MAPS = new WeakMap<StructType | MapType, MapShape>();

const map = (type: StructType | MapType): MapShape => mapShape(type, false);
const atomicMap = (type: StructType | MapType): MapShape => mapShape(type, true);

function mapShape(type: StructType | MapType, atomic: boolean): MapShape {
  if (type.kind === 'map') return { kind: 'map', atomic, named: new Map(), others: type.value };
  const named = new Map<string, Member>();
  for (const field of type.fields) {
    const { json } = field;
    named.set(json, new NamedMember(fieldElement(json), field));
  }
  // Of a type without any member OpenAPI says no more than that it is an object, as of a map of anything.
  const isOpen = type.preserveUnknown === true || type.fields.length === 0;
  return { kind: 'map', atomic, named, others: isOpen ? DEDUCED : undefined };
}

/** Lists without a list type follow their patch strategy, and are one value without either. */
function listShape(type: ListType, field: Field | undefined): ListShape {
  if (field === undefined) {
    return cached(PLAIN_LISTS, type, ({ element, listType, listMapKeys }) => listOf(element, listType, listMapKeys));
  }
  return cached(LISTS, field, ({ patchStrategy, patchMergeKey, listType, listMapKeys }) => {
    const merges = patchStrategy?.includes('merge') === true;
    const merged = merges ? (patchMergeKey === undefined ? 'set' : 'map') : undefined;
    const keys = listMapKeys ?? (patchMergeKey === undefined ? [] : [patchMergeKey]);
    return listOf(type.element, listType ?? merged, keys);
  });
}

const listOf = (element: Type, listType: ListType['listType'] = 'atomic', keys: readonly string[] = []): ListShape => ({
  kind: 'list',
  atomic: listType === 'atomic',
  keys: listType === 'map' ? keys : [],
  element,
});

function cached<K extends object, V>(cache: WeakMap<K, V>, key: K, make: (key: K) => V): V {
  let value = cache.get(key);
  if (value === undefined) {
    value = make(key);
    cache.set(key, value);
  }
  return value;
}

/** As long as there are members, for those of a map: V8 lists them all before it tells the first. */
export function isEmptyObject(value: JsonObject): boolean {
  for (const _ in value) return false;
  return true;
}

/** Equality of JSON values, whatever the order of members. */
export function valuesEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    for (let at = 0; at < left.length; at++) if (!valuesEqual(left[at], right[at])) return false;
    return true;
  }
  if (!isPlainObject(left) || !isPlainObject(right)) return false;
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  for (const name of names) if (!Object.hasOwn(right, name) || !valuesEqual(left[name], right[name])) return false;
  return true;
}
