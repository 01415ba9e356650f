import { Parts } from '../../lib/parts.js';
import type { Steps } from '../../lib/turns.js';
import type { JsonObject } from '../../machinery/object.js';
import { isObject } from './shape.js';

/** Equality of JSON values, whatever the order of members, as valuesEqual() tells it; for large ones. */
export function* equalSteps(left: unknown, right: unknown): Steps<boolean> {
  const walk: Walk = { equal: true, parts: new Parts() };
  visit(walk, left, right);
  if (walk.parts.isLeft) yield* walk.parts.rest();
  return walk.equal;
}

interface Walk {
  equal: boolean;
  readonly parts: Parts;
}

function visit(walk: Walk, left: unknown, right: unknown): void {
  if (left === right) return;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) differ(walk);
    else visitItems(walk, left, right, 0);
  } else if (isObject(left) && isObject(right)) visitMembers(walk, left, right, walk.parts.names(left), 0);
  else differ(walk);
}

function visitItems(walk: Walk, left: readonly unknown[], right: readonly unknown[], from: number): void {
  for (let at = from; at < left.length; at++) {
    if (!walk.parts.take()) return walk.parts.leave(() => visitItems(walk, left, right, at));
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
    if (!walk.parts.take()) return walk.parts.leave(() => visitMembers(walk, left, right, names, at));
    const name = names[at] as string;
    if (Object.hasOwn(right, name)) visit(walk, left[name], right[name]);
    else differ(walk);
  }
  // All that is on the left is on the right: there must be no more of it.
  if (walk.parts.names(right).length !== names.length) differ(walk);
}

function differ(walk: Walk): void {
  walk.equal = false;
  walk.parts.end();
}
