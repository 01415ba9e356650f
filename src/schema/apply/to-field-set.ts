// Which fields a configuration speaks of: every leaf and every item, but not the structs on the way.
import type { Field, Type } from '../type.js';
import { FieldSet } from './field-set.js';
import { isEmptyObject, isObject, itemElement, type ListShape, type MapShape, memberOf, shapeOf } from './shape.js';

export function toFieldSet(value: unknown, type: Type): FieldSet {
  const walk: Walk = { set: new FieldSet(), path: [] };
  visit(walk, value, type, undefined);
  return walk.set;
}

interface Walk {
  readonly set: FieldSet;
  readonly path: string[];
}

function visit(walk: Walk, value: unknown, type: Type, field: Field | undefined): void {
  const shape = shapeOf(type, field, value);
  if (shape.kind === 'scalar' || shape.atomic) walk.set.insert(walk.path);
  else if (shape.kind === 'map') visitMembers(walk, value, shape);
  else visitItems(walk, value, shape);
}

function visitMembers(walk: Walk, value: unknown, shape: MapShape): void {
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    const member = value[name];
    const { element, type, field } = memberOf(shape, name);
    walk.path.push(element);
    if (type !== undefined) visit(walk, member, type, field);
    if (field === undefined || member === null || (isObject(member) && isEmptyObject(member)))
      walk.set.insert(walk.path);
    walk.path.pop();
  }
}

/** Of items that cannot be told apart only the step itself is in the set. */
function visitItems(walk: Walk, value: unknown, shape: ListShape): void {
  if (!Array.isArray(value)) return;
  const elements = value.map((item) => itemElement(shape, item));
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const element of elements) (seen.has(element) ? repeated : seen).add(element);
  for (const [position, element] of elements.entries()) {
    walk.path.push(element);
    if (!repeated.has(element)) visit(walk, value[position], shape.element, undefined);
    walk.set.insert(walk.path);
    walk.path.pop();
  }
}
