// The live object with a configuration laid over it. Nothing is taken away; lists keep the live order where the
// configuration says nothing of it, and the configuration's order where it does.
import { setMember } from '../../lib/plain-object.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Field, Type } from '../type.js';
import { elementText } from './path-element.js';
import {
  isEmptyObject,
  isObject,
  itemElement,
  type ListShape,
  type MapShape,
  memberOf,
  shapeOf,
  TypedValueError,
} from './shape.js';

/** Shares with its arguments what it does not change. Throws TypedValueError. */
export function merge(live: unknown, configuration: unknown, type: Type): unknown {
  return visit(live, configuration, type, undefined);
}

/** undefined: not there, or nothing left. */
function visit(left: unknown, right: unknown, type: Type, field: Field | undefined): unknown {
  const shape = shapeOf(type, field, right === undefined || right === null ? (left ?? right) : right);
  if (shape.kind === 'scalar' || shape.atomic) return right === undefined ? left : right;
  if (shape.kind === 'map') {
    const leftMembers = isObject(left) ? left : {};
    const rightMembers = isObject(right) ? right : {};
    if (isEmptyObject(leftMembers) && isEmptyObject(rightMembers)) return right === undefined ? left : right;
    return mergeMembers(leftMembers, rightMembers, shape);
  }
  const leftEmpty = !Array.isArray(left) || left.length === 0;
  const rightEmpty = !Array.isArray(right) || right.length === 0;
  if (leftEmpty && rightEmpty) return right === undefined ? left : right;
  return mergeItems(Array.isArray(left) ? left : [], Array.isArray(right) ? right : [], shape);
}

function mergeMembers(left: JsonObject, right: JsonObject, shape: MapShape): unknown {
  const merged: JsonObject = {};
  let empty = true;
  const put = (name: string, leftValue: unknown, rightValue: unknown): void => {
    const { type, field } = memberOf(shape, name);
    const value = type === undefined ? (rightValue ?? leftValue) : visit(leftValue, rightValue, type, field);
    if (value === undefined) return;
    setMember(merged, name, value);
    empty = false;
  };
  for (const name of Object.keys(left)) put(name, left[name], Object.hasOwn(right, name) ? right[name] : undefined);
  for (const name of Object.keys(right)) if (!Object.hasOwn(left, name)) put(name, undefined, right[name]);
  return empty ? undefined : merged;
}

function mergeItems(left: readonly unknown[], right: readonly unknown[], shape: ListShape): unknown {
  const rightElements = right.map((item) => itemElement(shape, item));
  const rightItems = new Map<string, unknown>();
  for (const [position, element] of rightElements.entries()) {
    if (rightItems.has(element)) throw new TypedValueError(`duplicate entries for key ${elementText(element)}`);
    rightItems.set(element, right[position]);
  }
  const leftElements = left.map((item) => itemElement(shape, item));
  const leftItems = new Map<string, unknown>();
  for (const [position, element] of leftElements.entries()) {
    // Live items that cannot be told apart are replaced as a whole, not merged.
    leftItems.set(element, leftItems.has(element) ? null : left[position]);
  }

  const merged: unknown[] = [];
  const take = (leftItem: unknown, rightItem: unknown): void => {
    const item = visit(leftItem, rightItem, shape.element, undefined);
    if (item !== undefined) merged.push(item);
  };
  // Items both sides have, in the configuration's order: the live order gives way to it.
  const shared = rightElements.filter((element) => leftItems.has(element));
  let nextShared = shared.shift();
  const done = new Set<string>();
  const takeBoth = (element: string): void => {
    done.add(element);
    take(leftItems.get(element), rightItems.get(element));
    if (element === nextShared) nextShared = shared.shift();
  };

  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const leftElement = leftElements[l];
    if (leftElement !== undefined && r < right.length) {
      if (leftElement === rightElements[r]) {
        takeBoth(leftElement);
        l++;
        r++;
        continue;
      }
      if (rightItems.has(leftElement) && nextShared !== undefined && nextShared !== leftElement) {
        l++;
        continue;
      }
    }
    if (leftElement !== undefined) {
      if (!rightItems.has(leftElement)) {
        take(left[l], undefined);
        l++;
        continue;
      }
      if (done.has(leftElement)) l++;
    }
    if (r < right.length) takeBoth(rightElements[r++] as string);
  }
  return merged.length === 0 ? undefined : merged;
}
