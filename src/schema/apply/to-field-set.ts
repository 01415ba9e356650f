// Which fields a configuration speaks of: every leaf and every item, but not the structs on the way.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { ResumableWalk, samePath } from '../../lib/scheduling/resumable-walk.js';
import { runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Field, Type } from '../type.js';
import { FieldSet } from './field-set.js';
import { isEmptyObject, itemElement, type ListShape, type MapShape, memberOf, shapeOf } from './shape.js';

export const toFieldSet = (value: unknown, type: Type): FieldSet => runSync(toFieldSetSteps(value, type));

export function* toFieldSetSteps(value: unknown, type: Type): StepGenerator<FieldSet> {
  const walk: Walk = {
    set: new FieldSet(),
    path: [],
    resumable: new ResumableWalk(() => samePath(walk)),
  };
  visit(walk, value, type, undefined);
  if (walk.resumable.hasDeferred) yield* walk.resumable.resume();
  return walk.set;
}

interface Walk {
  readonly set: FieldSet;
  path: string[];
  readonly resumable: ResumableWalk;
}

/** Answers whether it is a map with nothing in it. */
function visit(walk: Walk, value: unknown, type: Type, field: Field | undefined): boolean {
  const shape = shapeOf(type, field, value);
  if (shape.kind === 'scalar' || shape.atomic) walk.set.insert(walk.path);
  else if (shape.kind === 'list') visitItems(walk, value, shape);
  else if (isPlainObject(value)) {
    const names = walk.resumable.names(value);
    visitMembers(walk, value, names, shape, 0);
    return names.length === 0;
  }
  return false;
}

function visitMembers(walk: Walk, value: JsonObject, names: readonly string[], shape: MapShape, from: number): void {
  for (let at = from; at < names.length; at++) {
    if (!walk.resumable.withinBudget()) return walk.resumable.defer(() => visitMembers(walk, value, names, shape, at));
    const name = names[at] as string;
    const member = value[name];
    const { element, type, field } = memberOf(shape, name);
    walk.path.push(element);
    const isEmpty =
      type === undefined ? isPlainObject(member) && isEmptyObject(member) : visit(walk, member, type, field);
    if (isEmpty || field === undefined || member === null) walk.set.insert(walk.path);
    walk.path.pop();
  }
}

/** Of items that cannot be distinguished only the step itself is in the set. */
function visitItems(walk: Walk, value: unknown, shape: ListShape): void {
  if (!Array.isArray(value)) return;
  const { resumable } = walk;
  const elements: string[] = [];
  const seen = new Set<string>();
  const repeated = new Set<string>();
  const look = (at: number): void => {
    const element = itemElement(shape, value[at]);
    elements.push(element);
    (seen.has(element) ? repeated : seen).add(element);
  };
  resumable.each(value.length, look, () =>
    resumable.each(elements.length, (at) => {
      const element = elements[at] as string;
      walk.path.push(element);
      if (!repeated.has(element)) visit(walk, value[at], shape.element, undefined);
      walk.set.insert(walk.path);
      walk.path.pop();
    }),
  );
}
