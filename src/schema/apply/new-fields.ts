// What the writer of a new object owns: everything in it that an object with nothing set has not.
//
// The same as comparing with the zero object, without the field sets of a comparison: nobody else owns anything yet,
// so what is found is written down at once.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { ResumableWalk } from '../../lib/scheduling/resumable-walk.js';
import { sortFew } from './sort-few.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Field, StructType, Type } from '../type.js';
import { FieldSet } from './field-set.js';
import { sortElements, sortElementSteps } from './path-element.js';
import { isEmptyObject, itemElement, type ListShape, type MapShape, memberOf, shapeOf, valuesEqual } from './shape.js';
import { zeroOf } from './zero.js';

/** Fields that are left out. */
export interface Unowned {
  /** Nobody owns these, but may own what lies below. */
  readonly system: FieldSet;
  /** What lies below these is left out, too. */
  readonly reset: FieldSet;
}

/** In the wire form of a field set; undefined when nothing is owned. Throws TypedValueError as a comparison does. */
// hot: on every create.
export function* newFieldSteps(
  object: Readonly<JsonObject>,
  type: StructType,
  unowned: Unowned,
): StepGenerator<JsonObject | undefined> {
  const resumable = new ResumableWalk();
  const fields = visit(resumable, zeroOf(type), object, type, undefined, unowned);
  if (!resumable.hasDeferred || fields === undefined) return fields;
  yield* resumable.resume();
  dropEmpty(fields, unowned.system);
  return isEmptyObject(fields) ? undefined : fields;
}

/** Of what is done in parts it shows only at the end that it has nothing but what nobody owns. */
function dropEmpty(fields: JsonObject, system: FieldSet): void {
  for (const element of system.members()) {
    const owned = fields[element] as JsonObject | undefined;
    if (owned !== undefined && isEmptyObject(owned)) delete fields[element];
  }
}

function visit(
  resumable: ResumableWalk,
  zero: unknown,
  value: unknown,
  type: Type,
  field: Field | undefined,
  unowned: Unowned,
): JsonObject | undefined {
  if (zero === value) return undefined;
  const shape = shapeOf(type, field, value);
  if (shape.kind === 'scalar' || shape.atomic) return whole(zero, value);
  if (shape.kind === 'list') {
    if (!Array.isArray(value) || value.length === 0) return whole(zero, value);
    const fields: JsonObject = zero === undefined ? { '.': {} } : {};
    addItems(resumable, fields, value, shape, unowned);
    return fields;
  }
  const names = isPlainObject(value) ? resumable.names(value) : [];
  if (names.length === 0 && nothingIn(zero)) return whole(zero, value);
  const fields: JsonObject = zero === undefined ? { '.': {} } : {};
  const isOwned = addMembers(
    resumable,
    fields,
    isPlainObject(zero) ? zero : {},
    value as JsonObject,
    sorted(names),
    shape,
    unowned,
  );
  if (isOwned) return fields;
  return zero === undefined ? NOTHING_BELOW : undefined;
}

const NOTHING_BELOW: JsonObject = Object.freeze({});

const whole = (zero: unknown, value: unknown): JsonObject | undefined =>
  zero === undefined || !valuesEqual(zero, value) ? NOTHING_BELOW : undefined;

const nothingIn = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isEmptyObject(value as JsonObject);
};

/** Answers whether anything is owned; what is left for later parts is. */
function addMembers(
  resumable: ResumableWalk,
  fields: JsonObject,
  zero: JsonObject,
  value: JsonObject,
  names: readonly string[],
  shape: MapShape,
  unowned: Unowned,
  from = 0,
): boolean {
  let any = false;
  for (let at = from; at < names.length; at++) {
    if (!resumable.withinBudget()) {
      resumable.defer(() => addMembers(resumable, fields, zero, value, names, shape, unowned, at));
      return true;
    }
    const name = names[at] as string;
    const { element, type, field } = memberOf(shape, name);
    if (type === undefined) continue;
    const before = Object.hasOwn(zero, name) ? zero[name] : undefined;
    if (add(resumable, fields, element, before, value[name], type, field, unowned)) any = true;
  }
  return any;
}

/** A config map may have thousands of members; most objects have a few. */
const FEW = 16;
/** Few names are always listed anew, and nobody else's. */
const sorted = (names: readonly string[]): string[] =>
  names.length <= FEW ? sortFew(names as string[]) : names.toSorted();

/** Items that cannot be distinguished count as one value at their step. */
function addItems(
  resumable: ResumableWalk,
  fields: JsonObject,
  value: readonly unknown[],
  shape: ListShape,
  unowned: Unowned,
): void {
  const items = new Map<string, { readonly item: unknown; repeated: boolean }>();
  const look = (at: number): void => {
    const item = value[at];
    const element = itemElement(shape, item);
    const same = items.get(element);
    if (same === undefined) items.set(element, { item, repeated: false });
    else same.repeated = true;
  };
  const addAll = (elements: readonly string[]): void =>
    resumable.each(elements.length, (at) => {
      const element = elements[at] as string;
      const found = items.get(element);
      if (found === undefined || unowned.reset.hasMember(element)) return;
      if (found.repeated) fields[element] = NOTHING_BELOW;
      else add(resumable, fields, element, undefined, found.item, shape.element, undefined, unowned);
    });
  resumable.each(value.length, look, () => {
    const elements = [...items.keys()];
    if (elements.length <= FEW) addAll(sortElements(elements));
    else resumable.run(sortElementSteps(elements), addAll);
  });
}

function add(
  resumable: ResumableWalk,
  fields: JsonObject,
  element: string,
  zero: unknown,
  value: unknown,
  type: Type,
  field: Field | undefined,
  { system, reset }: Unowned,
): boolean {
  if (reset.hasMember(element)) return false;
  const below =
    system.empty && reset.empty ? NOTHING_LEFT_OUT : { system: system.below(element), reset: reset.below(element) };
  const owned = visit(resumable, zero, value, type, field, below);
  if (owned === undefined) return false;
  if (system.hasMember(element)) {
    if (owned === NOTHING_BELOW) return false;
    if (owned['.'] !== undefined) delete owned['.'];
    if (!resumable.hasDeferred && isEmptyObject(owned)) return false;
  }
  fields[element] = owned;
  return true;
}

const NOTHING_LEFT_OUT: Unowned = { system: new FieldSet(), reset: new FieldSet() };
