// What changed from one object to another, as field sets.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { ResumableWalk, samePath } from '../../lib/scheduling/resumable-walk.js';
import { runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { Field, Type } from '../type.js';
import { FieldSet } from './field-set.js';
import {
  isEmptyObject,
  itemElement,
  type ListShape,
  type MapShape,
  memberOf,
  type Shape,
  shapeOf,
  valuesEqual,
} from './shape.js';

export interface Comparison {
  /** What is new or has another value. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** Throws TypedValueError when an item of a list cannot be distinguished from others. */
export const compare = (left: unknown, right: unknown, type: Type): Comparison =>
  runSync(compareSteps(left, right, type));

/** compare() in steps, for large values. */
export function* compareSteps(left: unknown, right: unknown, type: Type): StepGenerator<Comparison> {
  const walk = new ComparingWalk();
  walk.visit(left, right, type, undefined);
  if (walk.resumable.hasDeferred) yield* walk.resumable.resume();
  return walk;
}

class ComparingWalk implements Comparison {
  readonly changed = new FieldSet();
  readonly removed = new FieldSet();
  /** The steps to the values that are compared; those to items are written when something there has changed. */
  path: (string | ItemStep)[] = [];
  readonly resumable = new ResumableWalk(() => samePath(this));

  /** A side that is undefined is not there; null is a value. */
  // hot: once for each value of a created or updated object.
  visit(left: unknown, right: unknown, type: Type, field: Field | undefined): void {
    if (left === right && left !== undefined) return;
    const shape = shapeOf(type, field, right === undefined ? left : right);
    let leaf = this.#visitAs(left, right, shape);
    if (left !== undefined && right !== undefined) {
      // Values of any type may change from one shape to another: then both are looked at.
      const leftShape = shapeOf(type, field, left);
      if (leftShape.kind !== shape.kind) leaf = this.#visitAs(left, right, leftShape) || leaf;
    }
    if (leaf) return;
    if (left === undefined) this.#insert(this.changed);
    else if (right === undefined) this.#insert(this.removed);
  }

  #insert(set: FieldSet): void {
    const { path } = this;
    for (let at = 0; at < path.length; at++) {
      const step = path[at] as string | ItemStep;
      if (typeof step !== 'string') path[at] = itemElement(step.shape, step.item);
    }
    set.insert(path as string[]);
  }

  /** Answers whether the value was compared as a whole. */
  #visitAs(left: unknown, right: unknown, shape: Shape): boolean {
    switch (shape.kind) {
      case 'scalar':
        return this.#compareWhole(left, right);
      case 'list': {
        const noLeft = !Array.isArray(left) || left.length === 0;
        const noRight = !Array.isArray(right) || right.length === 0;
        // Of two empty values one may be null: that is kept apart by comparing them as a whole.
        if (shape.atomic || (noLeft && noRight)) return this.#compareWhole(left, right);
        this.#visitItems(noLeft ? [] : left, noRight ? [] : right, shape);
        return false;
      }
      case 'map': {
        if (shape.atomic) return this.#compareWhole(left, right);
        const maps = { left: isPlainObject(left) ? left : EMPTY, right: isPlainObject(right) ? right : EMPTY, shape };
        const names = this.resumable.names(maps.right);
        if (names.length === 0 && isEmptyObject(maps.left)) return this.#compareWhole(left, right);
        this.#visitMembers(maps, names);
        return false;
      }
    }
  }

  #compareWhole(left: unknown, right: unknown): true {
    if (left === undefined) this.#insert(this.changed);
    else if (right === undefined) this.#insert(this.removed);
    else if (!valuesEqual(left, right)) this.#insert(this.changed);
    return true;
  }

  /** `names`: those on the right. */
  #visitMembers(maps: Maps, names: readonly string[], from = 0): void {
    const { left, right, shape } = maps;
    for (let at = from; at < names.length; at++) {
      if (!this.resumable.withinBudget()) return this.resumable.defer(() => this.#visitMembers(maps, names, at));
      const name = names[at] as string;
      this.#visitMember(Object.hasOwn(left, name) ? left[name] : undefined, right[name], shape, name);
    }
    this.#visitRemoved(maps, this.resumable.names(left));
  }

  /** `names`: those on the left. */
  #visitRemoved(maps: Maps, names: readonly string[], from = 0): void {
    const { left, right, shape } = maps;
    for (let at = from; at < names.length; at++) {
      if (!this.resumable.withinBudget()) return this.resumable.defer(() => this.#visitRemoved(maps, names, at));
      const name = names[at] as string;
      if (!Object.hasOwn(right, name)) this.#visitMember(left[name], undefined, shape, name);
    }
  }

  #visitMember(left: unknown, right: unknown, shape: MapShape, name: string): void {
    const { element, type, field } = memberOf(shape, name);
    if (type === undefined) return;
    this.path.push(element);
    this.visit(left, right, type, field);
    this.path.pop();
  }

  #visitItems(left: readonly unknown[], right: readonly unknown[], shape: ListShape): void {
    const { resumable } = this;
    if (areFewKeyed(left, shape.keys) && areFewKeyed(right, shape.keys)) return this.#visitFew(left, right, shape);
    itemsByElement(left, shape, resumable, (leftItems) => {
      itemsByElement(right, shape, resumable, (rightItems) => {
        const both = [...leftItems.keys()];
        for (const element of rightItems.keys()) if (!leftItems.has(element)) both.push(element);
        resumable.each(both.length, (at) => {
          const element = both[at] as string;
          this.#compareItems(element, leftItems.get(element) ?? NONE, rightItems.get(element) ?? NONE, shape.element);
        });
      });
    });
  }

  /** Few items are found one by one, and the steps to them are written only where something has changed. */
  #visitFew(left: readonly Members[], right: readonly Members[], shape: ListShape): void {
    for (let at = 0; at < left.length; at++) {
      const item = left[at] as Members;
      this.#visitItem(item, itemLike(item, right, at, shape.keys), item, shape);
    }
    for (let at = 0; at < right.length; at++) {
      const item = right[at] as Members;
      if (itemLike(item, left, at, shape.keys) === undefined) this.#visitItem(undefined, item, item, shape);
    }
  }

  #visitItem(left: unknown, right: unknown, item: Members, shape: ListShape): void {
    this.path.push({ shape, item });
    this.visit(left, right, shape.element, undefined);
    this.path.pop();
  }

  /** Items that cannot be distinguished count as one value at their step. */
  #compareItems(element: string, left: readonly unknown[], right: readonly unknown[], type: Type): void {
    this.path.push(element);
    if (left.length <= 1 && right.length <= 1) this.visit(left[0], right[0], type, undefined);
    else if (left.length > 1 && right.length > 1) {
      if (!valuesEqual(left, right)) this.#insert(this.changed);
    } else if (left.length > 1) {
      if (right.length > 0) this.visit(undefined, right[0], type, undefined);
      this.#insert(this.removed);
    } else {
      if (left.length > 0) this.visit(left[0], undefined, type, undefined);
      this.#insert(this.changed);
    }
    this.path.pop();
  }
}

/** An item of a list, by which the step to it can be written. */
interface ItemStep {
  readonly shape: ListShape;
  readonly item: unknown;
}

/** More are found sooner by their steps. */
const FEW = 16;

/** Whether the items are few, and each has keys of its own: all of them there, as texts or numbers. */
function areFewKeyed(items: readonly unknown[], keys: readonly string[]): items is readonly Members[] {
  if (items.length > FEW || keys.length === 0) return false;
  for (let at = 0; at < items.length; at++) {
    const item = items[at];
    if (!isPlainObject(item)) return false;
    for (const key of keys) if (typeof item[key] !== 'string' && typeof item[key] !== 'number') return false;
    for (let before = 0; before < at; before++) if (haveSameKey(item, items[before] as Members, keys)) return false;
  }
  return true;
}

/** Mostly it stands at the same place. */
function itemLike(
  item: Members,
  list: readonly Members[],
  place: number,
  keys: readonly string[],
): Members | undefined {
  const same = list[place];
  if (same !== undefined && haveSameKey(item, same, keys)) return same;
  return list.find((other) => haveSameKey(item, other, keys));
}

function haveSameKey(item: Members, other: Members, keys: readonly string[]): boolean {
  for (const key of keys) if (item[key] !== other[key]) return false;
  return true;
}

/** Two maps that are compared member by member. */
interface Maps {
  readonly left: Members;
  readonly right: Members;
  /** Of both, or of the side that has one. */
  readonly shape: MapShape;
}

type Members = Readonly<Record<string, unknown>>;

const EMPTY: Members = {};
const NONE: readonly unknown[] = [];

function itemsByElement(
  list: readonly unknown[],
  shape: ListShape,
  resumable: ResumableWalk,
  then: (items: ReadonlyMap<string, readonly unknown[]>) => void,
): void {
  const items = new Map<string, unknown[]>();
  const add = (at: number): void => {
    const item = list[at];
    const element = itemElement(shape, item);
    const same = items.get(element);
    if (same === undefined) items.set(element, [item]);
    else same.push(item);
  };
  resumable.each(list.length, add, () => then(items));
}
