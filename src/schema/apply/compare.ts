// What changed from one object to another, as field sets.
import type { Field, Type } from '../type.js';
import { FieldSet } from './field-set.js';
import {
  isEmptyObject,
  isObject,
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

/** Throws TypedValueError when an item of a list cannot be told from others. */
export function compare(left: unknown, right: unknown, type: Type): Comparison {
  const walk: Walk = { added: new FieldSet(), modified: new FieldSet(), removed: new FieldSet(), path: [] };
  visit(walk, left, right, type, undefined);
  return walk;
}

interface Walk extends Comparison {
  readonly path: string[];
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
      const leftMembers = isObject(left) ? left : EMPTY;
      const rightMembers = isObject(right) ? right : EMPTY;
      if (shape.atomic || (isEmptyObject(leftMembers) && isEmptyObject(rightMembers))) {
        return compareWhole(walk, left, right);
      }
      visitMembers(walk, leftMembers, rightMembers, shape);
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
  left: Readonly<Record<string, unknown>>,
  right: Readonly<Record<string, unknown>>,
  shape: MapShape,
): void {
  for (const name of Object.keys(right)) {
    visitMember(walk, Object.hasOwn(left, name) ? left[name] : undefined, right[name], shape, name);
  }
  for (const name of Object.keys(left)) {
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
  const leftItems = itemsByElement(left, shape);
  const rightItems = itemsByElement(right, shape);
  for (const [element, items] of leftItems) compareItems(walk, element, items, rightItems.get(element) ?? [], shape);
  for (const [element, items] of rightItems) {
    if (!leftItems.has(element)) compareItems(walk, element, [], items, shape);
  }
}

function itemsByElement(list: readonly unknown[], shape: ListShape): Map<string, unknown[]> {
  const items = new Map<string, unknown[]>();
  for (const item of list) {
    const element = itemElement(shape, item);
    const same = items.get(element);
    if (same === undefined) items.set(element, [item]);
    else same.push(item);
  }
  return items;
}

/** Items that cannot be told apart count as one value at their step. */
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
