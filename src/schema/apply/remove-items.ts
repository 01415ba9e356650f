// An object without the members of a field set.
import { ResumableWalk } from '../../lib/scheduling/resumable-walk.js';
import { isPlainObject, setMember } from '../../lib/values/plain-object.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Field, Type } from '../type.js';
import type { FieldSet } from './field-set.js';
import { DEDUCED, itemElement, type ListShape, type MapShape, memberOf, shapeOf } from './shape.js';

/** A list or map that loses all it has becomes null: its field was there, and says nothing now. */
export function* removeItemSteps(value: unknown, items: FieldSet, type: Type): StepGenerator<unknown> {
  const resumable = new ResumableWalk();
  const place: { kept?: unknown } = {};
  remove(resumable, value, items, type, undefined, (kept) => (place.kept = kept));
  if (resumable.hasDeferred) yield* resumable.resume();
  return place.kept;
}

/** `put` may be called again: with what is kept so far, and with null if that is nothing in the end. */
function remove(
  resumable: ResumableWalk,
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
    if (Array.isArray(value)) removeFromList(resumable, value, items, shape, put);
    else put(null);
  } else if (isPlainObject(value)) removeFromMap(resumable, value, items, shape, put);
  else put(null);
}

function removeFromList(
  resumable: ResumableWalk,
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
    if (!below.empty) remove(resumable, item, below, shape.element, undefined, (left) => (kept[position] = left));
  };
  resumable.each(value.length, look, () => {
    if (kept.length === 0) put(null);
  });
}

function removeFromMap(
  resumable: ResumableWalk,
  value: JsonObject,
  items: FieldSet,
  shape: MapShape,
  put: (kept: unknown) => void,
): void {
  const kept: JsonObject = {};
  put(kept);
  let empty = true;
  const names = resumable.names(value);
  const look = (at: number): void => {
    const name = names[at] as string;
    const { element, type = DEDUCED, field } = memberOf(shape, name);
    if (items.hasMember(element)) return;
    empty = false;
    setMember(kept, name, value[name]);
    const below = items.below(element);
    if (!below.empty) remove(resumable, value[name], below, type, field, (left) => setMember(kept, name, left));
  };
  resumable.each(names.length, look, () => {
    if (empty) put(null);
  });
}
