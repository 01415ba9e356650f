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
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Throws TypedValueError when an item of a list cannot be distinguished from others. */
export const compare = (left: unknown, right: unknown, type: Type): Comparison =>
  runSync(compareSteps(left, right, type));

/** compare() in steps, for large values. */
export function* compareSteps(left: unknown, right: unknown, type: Type): StepGenerator<Comparison> {
  const walk: Walk = {
    added: new FieldSet(),
    modified: new FieldSet(),
    removed: new FieldSet(),
    path: [],
    resumable: new ResumableWalk(() => samePath(walk)),
  };
  visit(walk, left, right, type, undefined);
  if (walk.resumable.hasDeferred) yield* walk.resumable.resume();
  return walk;
}

interface Walk extends Comparison {
  path: string[];
  readonly resumable: ResumableWalk;
}

/** A side that is undefined is not there; null is a value. */
// hot: once for each value of a created or updated object.
function visit(walk: Walk, left: unknown, right: unknown, type: Type, field: Field | undefined): void {
  if (left === right && left !== undefined) return;
  const shape = shapeOf(type, field, right === undefined ? left : right);
  let leaf = visitAs(walk, left, right, shape);
  if (left !== undefined && right !== undefined) {
    // Values of any type may change from one shape to another: then both are looked at.
    const leftShape = shapeOf(type, field, left);
    if (leftShape.kind !== shape.kind) leaf = visitAs(walk, left, right, leftShape) || leaf;
  }
  if (leaf) return;
  if (left === undefined) walk.added.insert(walk.path);
  else if (right === undefined) walk.removed.insert(walk.path);
}

/** Answers whether the value was compared as a whole. */
function visitAs(walk: Walk, left: unknown, right: unknown, shape: Shape): boolean {
  switch (shape.kind) {
    case 'scalar':
      return compareWhole(walk, left, right);
    case 'list': {
      const noLeft = !Array.isArray(left) || left.length === 0;
      const noRight = !Array.isArray(right) || right.length === 0;
      // Of two empty values one may be null: that is kept apart by comparing them as a whole.
      if (shape.atomic || (noLeft && noRight)) return compareWhole(walk, left, right);
      visitItems(walk, noLeft ? [] : left, noRight ? [] : right, shape);
      return false;
    }
    case 'map': {
      const leftMembers = isPlainObject(left) ? left : EMPTY;
      const rightMembers = isPlainObject(right) ? right : EMPTY;
      if (shape.atomic) return compareWhole(walk, left, right);
      const names = walk.resumable.names(rightMembers);
      if (names.length === 0 && isEmptyObject(leftMembers)) return compareWhole(walk, left, right);
      visitMembers(walk, leftMembers, rightMembers, names, shape);
      return false;
    }
  }
}

const EMPTY = {};

function compareWhole(walk: Walk, left: unknown, right: unknown): true {
  if (left === undefined) walk.added.insert(walk.path);
  else if (right === undefined) walk.removed.insert(walk.path);
  else if (!valuesEqual(left, right)) walk.modified.insert(walk.path);
  return true;
}

function visitMembers(
  walk: Walk,
  left: Members,
  right: Members,
  names: readonly string[],
  shape: MapShape,
  from = 0,
): void {
  const { resumable } = walk;
  for (let at = from; at < names.length; at++) {
    if (!resumable.withinBudget()) return resumable.defer(() => visitMembers(walk, left, right, names, shape, at));
    const name = names[at] as string;
    visitMember(walk, Object.hasOwn(left, name) ? left[name] : undefined, right[name], shape, name);
  }
  visitRemoved(walk, left, right, resumable.names(left), shape, 0);
}

type Members = Readonly<Record<string, unknown>>;

function visitRemoved(
  walk: Walk,
  left: Members,
  right: Members,
  names: readonly string[],
  shape: MapShape,
  from: number,
): void {
  for (let at = from; at < names.length; at++) {
    if (!walk.resumable.withinBudget())
      return walk.resumable.defer(() => visitRemoved(walk, left, right, names, shape, at));
    const name = names[at] as string;
    if (!Object.hasOwn(right, name)) visitMember(walk, left[name], undefined, shape, name);
  }
}

function visitMember(walk: Walk, left: unknown, right: unknown, shape: MapShape, name: string): void {
  const { element, type, field } = memberOf(shape, name);
  if (type === undefined) return;
  walk.path.push(element);
  visit(walk, left, right, type, field);
  walk.path.pop();
}

function visitItems(walk: Walk, left: readonly unknown[], right: readonly unknown[], shape: ListShape): void {
  const { resumable } = walk;
  itemsByElement(left, shape, resumable, (leftItems) => {
    itemsByElement(right, shape, resumable, (rightItems) => {
      const both = [...leftItems.keys()];
      for (const element of rightItems.keys()) if (!leftItems.has(element)) both.push(element);
      resumable.each(both.length, (at) => {
        const element = both[at] as string;
        compareItems(walk, element, leftItems.get(element) ?? NONE, rightItems.get(element) ?? NONE, shape);
      });
    });
  });
}

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

/** Items that cannot be distinguished count as one value at their step. */
function compareItems(
  walk: Walk,
  element: string,
  left: readonly unknown[],
  right: readonly unknown[],
  shape: ListShape,
): void {
  walk.path.push(element);
  if (left.length <= 1 && right.length <= 1) visit(walk, left[0], right[0], shape.element, undefined);
  else if (left.length > 1 && right.length > 1) {
    if (!valuesEqual(left, right)) walk.modified.insert(walk.path);
  } else if (left.length > 1) {
    if (right.length > 0) visit(walk, undefined, right[0], shape.element, undefined);
    walk.removed.insert(walk.path);
  } else {
    if (left.length > 0) visit(walk, left[0], undefined, shape.element, undefined);
    walk.added.insert(walk.path);
  }
  walk.path.pop();
}
