// An object without the members of a field set.
import { setMember } from '../../lib/plain-object.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Field, Type } from '../type.js';
import type { FieldSet } from './field-set.js';
import { isObject, itemElement, memberOf, shapeOf, DEDUCED } from './shape.js';

/** A list or map that loses all it has becomes null: its field was there, and says nothing now. */
export function removeItems(value: unknown, items: FieldSet, type: Type): unknown {
  return visit(value, items, type, undefined);
}

function visit(value: unknown, items: FieldSet, type: Type, field: Field | undefined): unknown {
  const shape = shapeOf(type, field, value);
  if (shape.kind === 'scalar') return value;
  if (shape.atomic) return null;
  if (shape.kind === 'list') {
    if (!Array.isArray(value)) return null;
    const kept: unknown[] = [];
    for (const item of value) {
      const element = itemElement(shape, item);
      if (items.hasMember(element)) continue;
      const below = items.below(element);
      kept.push(below.empty ? item : visit(item, below, shape.element, undefined));
    }
    return kept.length === 0 ? null : kept;
  }
  if (!isObject(value)) return null;
  const kept: JsonObject = {};
  let empty = true;
  for (const name of Object.keys(value)) {
    const { element, type: memberType, field: memberField } = memberOf(shape, name);
    if (items.hasMember(element)) continue;
    const below = items.below(element);
    empty = false;
    setMember(kept, name, below.empty ? value[name] : visit(value[name], below, memberType ?? DEDUCED, memberField));
  }
  return empty ? null : kept;
}
