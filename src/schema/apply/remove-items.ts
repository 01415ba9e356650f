// An object without the members of a field set.
import { Parts } from '../../lib/parts.js';
import { setMember } from '../../lib/plain-object.js';
import type { Steps } from '../../lib/turns.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Field, Type } from '../type.js';
import type { FieldSet } from './field-set.js';
import { DEDUCED, isObject, itemElement, type ListShape, type MapShape, memberOf, shapeOf } from './shape.js';

/** A list or map that loses all it has becomes null: its field was there, and says nothing now. */
export function* removeItemSteps(value: unknown, items: FieldSet, type: Type): Steps<unknown> {
  const parts = new Parts();
  const place: { kept?: unknown } = {};
  remove(parts, value, items, type, undefined, (kept) => (place.kept = kept));
  if (parts.isLeft) yield* parts.rest();
  return place.kept;
}

/** `put` may be called again: with what is kept so far, and with null if that is nothing in the end. */
function remove(
  parts: Parts,
  value: unknown,
  items: FieldSet,
  type: Type,
  field: Field | undefined,
  put: (kept: unknown) => void,
): void {
  const shape = shapeOf(type, field, value);
  if (shape.kind === 'scalar') put(value);
  else if (shape.atomic) put(null);
  else if (shape.kind === 'list') {
    if (Array.isArray(value)) removeFromList(parts, value, items, shape, put);
    else put(null);
  } else if (isObject(value)) removeFromMap(parts, value, items, shape, put);
  else put(null);
}

function removeFromList(
  parts: Parts,
  value: readonly unknown[],
  items: FieldSet,
  shape: ListShape,
  put: (kept: unknown) => void,
): void {
  const kept: unknown[] = [];
  put(kept);
  const look = (at: number): void => {
    const item = value[at];
    const element = itemElement(shape, item);
    if (items.hasMember(element)) return;
    const below = items.below(element);
    const position = kept.push(item) - 1;
    if (!below.empty) remove(parts, item, below, shape.element, undefined, (left) => (kept[position] = left));
  };
  parts.each(value.length, look, () => {
    if (kept.length === 0) put(null);
  });
}

function removeFromMap(
  parts: Parts,
  value: JsonObject,
  items: FieldSet,
  shape: MapShape,
  put: (kept: unknown) => void,
): void {
  const kept: JsonObject = {};
  put(kept);
  let empty = true;
  const names = parts.names(value);
  const look = (at: number): void => {
    const name = names[at] as string;
    const { element, type = DEDUCED, field } = memberOf(shape, name);
    if (items.hasMember(element)) return;
    empty = false;
    setMember(kept, name, value[name]);
    const below = items.below(element);
    if (!below.empty) remove(parts, value[name], below, type, field, (left) => setMember(kept, name, left));
  };
  parts.each(names.length, look, () => {
    if (empty) put(null);
  });
}
