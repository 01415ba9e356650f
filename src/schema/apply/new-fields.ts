// What the writer of a new object owns: everything in it that an object with nothing set has not.
//
// The same as comparing with the zero object, without the field sets of a comparison: nobody else owns anything yet,
// so what is found is written down at once.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { ResumableWalk } from '../../lib/scheduling/resumable-walk.js';
import { sortTexts } from '../../lib/values/sort-few.js';
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
  const walk = new NewFieldsWalk();
  const fields = walk.visit(zeroOf(type), object, { type, field: undefined }, unowned);
  if (!walk.resumable.hasDeferred || fields === undefined) return fields;
  yield* walk.resumable.resume();
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

class NewFieldsWalk {
  readonly resumable = new ResumableWalk();

  /** `unowned`: below the value. */
  visit(zero: unknown, value: unknown, { type, field }: Typed, unowned: Unowned): JsonObject | undefined {
    if (zero === value) return undefined;
    const shape = shapeOf(type, field, value);
    if (shape.kind === 'scalar' || shape.atomic) return whole(zero, value);
    if (shape.kind === 'list') {
      if (!Array.isArray(value) || value.length === 0) return whole(zero, value);
      const fields: JsonObject = zero === undefined ? { '.': {} } : {};
      this.#addItems({ fields, unowned }, value, shape);
      return fields;
    }
    const names = isPlainObject(value) ? this.resumable.names(value) : [];
    if (names.length === 0 && nothingIn(zero)) return whole(zero, value);
    const fields: JsonObject = zero === undefined ? { '.': {} } : {};
    const members = {
      zero: isPlainObject(zero) ? zero : {},
      value: value as JsonObject,
      names: sorted(names),
      shape,
    };
    if (this.#addMembers({ fields, unowned }, members)) return fields;
    return zero === undefined ? NOTHING_BELOW : undefined;
  }

  /** Answers whether anything is owned; what is left for later parts is. */
  #addMembers(level: Level, members: Members, from = 0): boolean {
    const { zero, value, names, shape } = members;
    let any = false;
    for (let at = from; at < names.length; at++) {
      if (!this.resumable.withinBudget()) {
        this.resumable.defer(() => this.#addMembers(level, members, at));
        return true;
      }
      const name = names[at] as string;
      const { element, type, field } = memberOf(shape, name);
      if (type === undefined) continue;
      const before = Object.hasOwn(zero, name) ? zero[name] : undefined;
      if (this.#add(level, { element, type, field }, before, value[name])) any = true;
    }
    return any;
  }

  /** Items that cannot be distinguished count as one value at their step. */
  #addItems(level: Level, value: readonly unknown[], shape: ListShape): void {
    const { resumable } = this;
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
        if (found === undefined || level.unowned.reset.hasMember(element)) return;
        if (found.repeated) level.fields[element] = NOTHING_BELOW;
        else this.#add(level, { element, type: shape.element, field: undefined }, undefined, found.item);
      });
    resumable.each(value.length, look, () => {
      const elements = [...items.keys()];
      if (elements.length <= FEW) addAll(sortElements(elements));
      else resumable.run(sortElementSteps(elements), addAll);
    });
  }

  #add({ fields, unowned: { system, reset } }: Level, step: Step, zero: unknown, value: unknown): boolean {
    const { element } = step;
    if (reset.hasMember(element)) return false;
    const below =
      system.empty && reset.empty ? NOTHING_LEFT_OUT : { system: system.below(element), reset: reset.below(element) };
    const owned = this.visit(zero, value, step, below);
    if (owned === undefined) return false;
    if (system.hasMember(element)) {
      if (owned === NOTHING_BELOW) return false;
      if (owned['.'] !== undefined) delete owned['.'];
      if (!this.resumable.hasDeferred && isEmptyObject(owned)) return false;
    }
    fields[element] = owned;
    return true;
  }
}

/** What a value is by its type, and by the field that it stands at. */
interface Typed {
  readonly type: Type;
  /** Undefined for items of lists and members of maps. */
  readonly field: Field | undefined;
}

/** The way from a value to one in it. */
interface Step extends Typed {
  readonly element: string;
}

/** The fields of one list or map, as far as they are found. */
interface Level {
  /** In the wire form; what is found is added. */
  readonly fields: JsonObject;
  /** Below this level. */
  readonly unowned: Unowned;
}

/** A map, and what one with nothing set has in its place. */
interface Members {
  readonly zero: JsonObject;
  readonly value: JsonObject;
  /** Those of `value`, in the order of the wire form. */
  readonly names: readonly string[];
  readonly shape: MapShape;
}

const NOTHING_BELOW: JsonObject = Object.freeze({});
const NOTHING_LEFT_OUT: Unowned = { system: new FieldSet(), reset: new FieldSet() };

const whole = (zero: unknown, value: unknown): JsonObject | undefined =>
  zero === undefined || !valuesEqual(zero, value) ? NOTHING_BELOW : undefined;

const nothingIn = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isEmptyObject(value as JsonObject);
};

/** A config map may have thousands of members; most objects have a few. */
const FEW = 16;
/** Few names are always listed anew, and nobody else's. */
const sorted = (names: readonly string[]): string[] =>
  names.length <= FEW ? sortTexts(names as string[]) : names.toSorted();
