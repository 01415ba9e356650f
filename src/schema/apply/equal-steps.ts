import { isPlainObject } from '../../lib/values/plain-object.js';
import { ResumableWalk } from '../../lib/scheduling/resumable-walk.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import type { JsonObject } from '../../machinery/object.js';

/** Equality of JSON values, whatever the order of members, as in valuesEqual(); for large ones. */
export function* equalSteps(left: unknown, right: unknown): StepGenerator<boolean> {
  const walk: Walk = { equal: true, resumable: new ResumableWalk() };
  visit(walk, left, right);
  if (walk.resumable.hasDeferred) yield* walk.resumable.resume();
  return walk.equal;
}

interface Walk {
  equal: boolean;
  readonly resumable: ResumableWalk;
}

function visit(walk: Walk, left: unknown, right: unknown): void {
  if (left === right) return;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) differ(walk);
    else visitItems(walk, left, right, 0);
  } else if (isPlainObject(left) && isPlainObject(right))
    visitMembers(walk, left, right, walk.resumable.names(left), 0);
  else differ(walk);
}

function visitItems(walk: Walk, left: readonly unknown[], right: readonly unknown[], from: number): void {
  for (let at = from; at < left.length; at++) {
    if (!walk.resumable.withinBudget()) return walk.resumable.defer(() => visitItems(walk, left, right, at));
    visit(walk, left[at], right[at]);
  }
}

function visitMembers(
  walk: Walk,
  left: Readonly<JsonObject>,
  right: Readonly<JsonObject>,
  names: readonly string[],
  from: number,
): void {
  for (let at = from; at < names.length; at++) {
    if (!walk.resumable.withinBudget()) return walk.resumable.defer(() => visitMembers(walk, left, right, names, at));
    const name = names[at] as string;
    if (Object.hasOwn(right, name)) visit(walk, left[name], right[name]);
    else differ(walk);
  }
  // All that is on the left is on the right: there must be no more of it.
  if (walk.resumable.names(right).length !== names.length) differ(walk);
}

function differ(walk: Walk): void {
  walk.equal = false;
  walk.resumable.end();
}
