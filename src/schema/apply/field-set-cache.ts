// What the writers of new objects own, cached by what the objects look like.
//
// The objects that one program creates differ in their values, and what is owned is a matter of names: values count only
// where they distinguish items, and where an object with nothing set has one as well. So most objects are like one that
// came before, and to see that costs a fraction of collecting their fields and encoding them.
//
//   object    {"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}
//   likeness  metadata: labels: app: anything
//             spec: containers: one item: name: exactly "c"
//                                         image: anything
//
// What is always encoded is in an object with nothing set, too: a time is `null` there, and likeness is to have another.
import { isPlainObject } from '../../lib/values/plain-object.js';
import type { JsonObject } from '../../machinery/object.js';
import { fieldSetText } from '../json/encode.js';
import { sharedFields, sharedText } from '../shared-fields.js';
import type { Field, StructType, Type } from '../type.js';
import type { FieldSet } from './field-set.js';
import { isDeduced, type ListShape, type MapShape, memberOf, shapeOf, valuesEqual } from './shape.js';
import { zeroOf } from './zero.js';

/** Likenesses of one type: objects are held against each of them. */
const MAX_OF_TYPE = 8;
/** Of the objects that are like none, one in so many is cached: objects with nothing in common would only fill it. */
const CACHED_ONE_OF = 8;
/** Values of an object; larger ones are seldom created often. */
const MAX_VALUES_OF_ONE = 512;
/** When there are more values in all likenesses, all are forgotten. */
const MAX_VALUES = 64 * 1024;

interface Known {
  /** Fields that nobody owns. */
  readonly reset: FieldSet;
  readonly likeness: Likeness;
  readonly fields: JsonObject;
}

interface OfType {
  readonly known: Known[];
  strangers: number;
}

let types = new WeakMap<StructType, OfType>();
let values = 0;

/** The fields of the writer of an object like a cached one. Not to be changed. For small objects: walked at once. */
// hot: on every create.
export function fieldsOfAlike(
  object: Readonly<JsonObject>,
  type: StructType,
  reset: FieldSet,
): Readonly<JsonObject> | undefined {
  const known = types.get(type)?.known;
  if (known === undefined) return undefined;
  for (let at = 0; at < known.length; at++) {
    const one = known[at] as Known;
    if (one.reset !== reset || !one.likeness.has(object)) continue;
    // What is used most moves to the front.
    if (at > 0) [known[at - 1], known[at]] = [one, known[at - 1] as Known];
    return one.fields;
  }
  return undefined;
}

/** `fields`: what the writer of an object owns that was like none. */
export function memoizeFields(
  object: Readonly<JsonObject>,
  type: StructType,
  reset: FieldSet,
  fields: Readonly<JsonObject>,
): void {
  let ofType = types.get(type);
  if (ofType === undefined) types.set(type, (ofType = { known: [], strangers: 0 }));
  if (ofType.strangers++ % CACHED_ONE_OF !== 0) return;
  const looking = new Looking();
  const likeness = looking.at(zeroOf(type), object, type, undefined);
  const shared = likeness && sharedFields(fieldSetText(fields));
  if (shared === undefined || sharedText(shared) === undefined) return;
  values += looking.values;
  if (values > MAX_VALUES) {
    types = new WeakMap();
    values = 0;
    return;
  }
  ofType.known.unshift({ reset, likeness: likeness as Likeness, fields: shared });
  if (ofType.known.length > MAX_OF_TYPE) ofType.known.pop();
}

/** One class for all kinds, as V8 is quickest with one. */
class Likeness {
  constructor(
    private readonly kind: 'anything' | 'exactly' | 'otherThan' | 'items' | 'members',
    private readonly value: unknown,
    private readonly names: readonly string[],
    private readonly below: readonly Likeness[],
  ) {}

  static readonly ANYTHING = new Likeness('anything', undefined, [], []);

  static readonly exactly = (value: unknown): Likeness => new Likeness('exactly', value, [], []);

  static readonly otherThan = (value: unknown): Likeness => new Likeness('otherThan', value, [], []);

  static readonly items = (below: readonly Likeness[]): Likeness => new Likeness('items', undefined, [], below);

  static readonly members = (names: readonly string[], below: readonly Likeness[]): Likeness =>
    new Likeness('members', undefined, names, below);

  has(value: unknown): boolean {
    switch (this.kind) {
      case 'anything':
        return value !== undefined;
      case 'exactly':
        return valuesEqual(this.value, value);
      case 'otherThan':
        return value !== undefined && !valuesEqual(this.value, value);
      case 'items':
        return Array.isArray(value) && this.hasItems(value);
      case 'members':
        return isPlainObject(value) && this.hasMembers(value);
    }
  }

  private hasItems(items: readonly unknown[]): boolean {
    const { below } = this;
    if (items.length !== below.length) return false;
    for (let at = 0; at < below.length; at++) if (!(below[at] as Likeness).has(items[at])) return false;
    return true;
  }

  /** One program writes the members of its objects in one order. */
  private hasMembers(object: JsonObject): boolean {
    const { names, below } = this;
    const present = Object.keys(object);
    if (present.length !== names.length) return false;
    for (let at = 0; at < names.length; at++) {
      const name = names[at] as string;
      if (present[at] !== name || !(below[at] as Likeness).has(object[name])) return false;
    }
    return true;
  }
}

/** What is owned as one is owned unless it is as in an object with nothing set. */
function wholeLikeness(zero: unknown, value: unknown): Likeness {
  if (zero === undefined) return Likeness.ANYTHING;
  return valuesEqual(zero, value) ? Likeness.exactly(zero) : Likeness.otherThan(zero);
}

/** Looks at an object as newFieldSteps() does, and records what that depends on. */
class Looking {
  values = 0;

  /** Undefined where it depends on more than can be said. */
  at(zero: unknown, value: unknown, type: Type, field: Field | undefined): Likeness | undefined {
    if (++this.values > MAX_VALUES_OF_ONE || value === undefined || isDeduced(type)) return undefined;
    const shape = shapeOf(type, field, value);
    const isWhole = shape.kind === 'scalar' || shape.atomic;
    if (isWhole) return wholeLikeness(zero, value);
    if (typeof value !== 'object' || value === null) return Likeness.exactly(value);
    if (shape.kind === 'list') return Array.isArray(value) ? this.#items(value, shape) : undefined;
    return isPlainObject(value) ? this.#members(isPlainObject(zero) ? zero : {}, value, shape, []) : undefined;
  }

  #items(items: readonly unknown[], shape: ListShape): Likeness | undefined {
    const below: Likeness[] = [];
    for (const item of items) {
      const one = shape.keys.length === 0 ? this.#exactly(item) : this.#keyedItem(item, shape);
      if (one === undefined) return undefined;
      below.push(one);
    }
    return Likeness.items(below);
  }

  #keyedItem(item: unknown, { element, keys }: ListShape): Likeness | undefined {
    const shape = shapeOf(element, undefined, item);
    if (shape.kind !== 'map' || shape.atomic || isDeduced(element) || !isPlainObject(item)) return undefined;
    return this.#members({}, item, shape, keys);
  }

  /** `keys`: members whose values count. */
  #members(zero: JsonObject, object: JsonObject, shape: MapShape, keys: readonly string[]): Likeness | undefined {
    const names = Object.keys(object);
    const below: Likeness[] = [];
    for (const name of names) {
      const { type, field } = memberOf(shape, name);
      const before = Object.hasOwn(zero, name) ? zero[name] : undefined;
      // What the type does not have nobody owns.
      const one = keys.includes(name)
        ? this.#exactly(object[name])
        : type === undefined
          ? Likeness.ANYTHING
          : this.at(before, object[name], type, field);
      if (one === undefined) return undefined;
      below.push(one);
    }
    return Likeness.members(names, below);
  }

  #exactly(value: unknown): Likeness | undefined {
    if (++this.values > MAX_VALUES_OF_ONE || value === undefined) return undefined;
    return typeof value !== 'object' || value === null ? Likeness.exactly(value) : undefined;
  }
}
