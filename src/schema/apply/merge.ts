// The live object with a configuration merged into it. Nothing is removed; lists keep the live order where the
// configuration says nothing of it, and the configuration's order where it does.
import { ResumableWalk } from '../../lib/scheduling/resumable-walk.js';
import { isPlainObject, setMember } from '../../lib/values/plain-object.js';
import { runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Field, Type } from '../type.js';
import { elementText } from './path-element.js';
import {
  isEmptyObject,
  itemElement,
  type ListShape,
  type MapShape,
  memberOf,
  shapeOf,
  TypedValueError,
} from './shape.js';

/** Shares with its arguments what it does not change. Throws TypedValueError. */
export const merge = (live: unknown, configuration: unknown, type: Type): unknown =>
  runSync(mergeSteps(live, configuration, type));

/** merge() in steps, for large values. */
export function* mergeSteps(live: unknown, configuration: unknown, type: Type): StepGenerator<unknown> {
  const walk = new MergingWalk();
  const merged = walk.visit(live, configuration, type, undefined);
  if (walk.resumable.hasDeferred) yield* walk.resumable.resume();
  return merged;
}

class MergingWalk {
  readonly resumable = new ResumableWalk();

  /** undefined: not there, or nothing left. */
  visit(left: unknown, right: unknown, type: Type, field: Field | undefined): unknown {
    const shape = shapeOf(type, field, right === undefined || right === null ? (left ?? right) : right);
    if (shape.kind === 'scalar' || shape.atomic) return right === undefined ? left : right;
    if (shape.kind === 'map') {
      const leftMembers = isPlainObject(left) ? left : {};
      const rightMembers = isPlainObject(right) ? right : {};
      const names = this.resumable.names(leftMembers);
      if (names.length === 0 && isEmptyObject(rightMembers)) return right === undefined ? left : right;
      return this.#mergeMembers(leftMembers, names, rightMembers, shape);
    }
    const leftEmpty = !Array.isArray(left) || left.length === 0;
    const rightEmpty = !Array.isArray(right) || right.length === 0;
    if (leftEmpty && rightEmpty) return right === undefined ? left : right;
    return this.#mergeItems(Array.isArray(left) ? left : [], Array.isArray(right) ? right : [], shape);
  }

  /**
   * `names`: those on the left. What goes on in later parts has something in it: only values that are not there at all
   * leave nothing.
   */
  #mergeMembers(left: JsonObject, names: readonly string[], right: JsonObject, shape: MapShape): unknown {
    const { resumable } = this;
    const merged: JsonObject = {};
    let nothing = false;
    let empty = true;
    const put = (name: string, leftValue: unknown, rightValue: unknown): void => {
      const { type, field } = memberOf(shape, name);
      const value = type === undefined ? (rightValue ?? leftValue) : this.visit(leftValue, rightValue, type, field);
      if (value === undefined) return;
      setMember(merged, name, value);
      empty = false;
    };
    const putLeft = (at: number): void => {
      const name = names[at] as string;
      put(name, left[name], Object.hasOwn(right, name) ? right[name] : undefined);
    };
    resumable.each(names.length, putLeft, () => {
      const added = resumable.names(right);
      const putRight = (at: number): void => {
        const name = added[at] as string;
        if (!Object.hasOwn(left, name)) put(name, undefined, right[name]);
      };
      resumable.each(added.length, putRight, () => {
        nothing = empty;
      });
    });
    return nothing ? undefined : merged;
  }

  #mergeItems(left: readonly unknown[], right: readonly unknown[], shape: ListShape): unknown {
    const { resumable } = this;
    const merged: unknown[] = [];
    let through = false;
    const rightElements: string[] = [];
    const rightItems = new Map<string, unknown>();
    const lookRight = (at: number): void => {
      const element = itemElement(shape, right[at]);
      if (rightItems.has(element)) throw new TypedValueError(`duplicate entries for key ${elementText(element)}`);
      rightElements.push(element);
      rightItems.set(element, right[at]);
    };
    const leftElements: string[] = [];
    const leftItems = new Map<string, unknown>();
    const lookLeft = (at: number): void => {
      const element = itemElement(shape, left[at]);
      leftElements.push(element);
      // Live items that cannot be distinguished are replaced as a whole, not merged.
      leftItems.set(element, leftItems.has(element) ? null : left[at]);
    };
    resumable.each(right.length, lookRight, () =>
      resumable.each(left.length, lookLeft, () => {
        const add = (leftItem: unknown, rightItem: unknown): void => {
          const item = this.visit(leftItem, rightItem, shape.element, undefined);
          if (item !== undefined) merged.push(item);
        };
        const sides = { left, leftElements, leftItems, rightElements, rightItems };
        resumable.loop(interleaving(sides, add, () => (through = true)));
      }),
    );
    return through && merged.length === 0 ? undefined : merged;
  }
}

interface Sides {
  readonly left: readonly unknown[];
  readonly leftElements: readonly string[];
  readonly leftItems: ReadonlyMap<string, unknown>;
  readonly rightElements: readonly string[];
  readonly rightItems: ReadonlyMap<string, unknown>;
}

/** Visits one item after another; each step returns whether there are more. */
function interleaving(
  { left, leftElements, leftItems, rightElements, rightItems }: Sides,
  add: (leftItem: unknown, rightItem: unknown) => void,
  end: () => void,
): () => boolean {
  // Items both sides have, in the configuration's order, which overrides the live order.
  const shared = rightElements.filter((element) => leftItems.has(element));
  let nextShared = 0;
  const done = new Set<string>();
  const addBoth = (element: string): void => {
    done.add(element);
    add(leftItems.get(element), rightItems.get(element));
    if (element === shared[nextShared]) nextShared++;
  };

  let [l, r] = [0, 0];
  return () => {
    if (l >= leftElements.length && r >= rightElements.length) {
      end();
      return false;
    }
    const leftElement = leftElements[l];
    if (leftElement !== undefined && r < rightElements.length) {
      if (leftElement === rightElements[r]) {
        addBoth(leftElement);
        l++;
        r++;
        return true;
      }
      const next = shared[nextShared];
      if (rightItems.has(leftElement) && next !== undefined && next !== leftElement) {
        l++;
        return true;
      }
    }
    if (leftElement !== undefined) {
      if (!rightItems.has(leftElement)) {
        add(left[l], undefined);
        l++;
        return true;
      }
      if (done.has(leftElement)) l++;
    }
    if (r < rightElements.length) addBoth(rightElements[r++] as string);
    return true;
  };
}
