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
  const walk = new RemovingWalk();
  const place: { kept?: unknown } = {};
  walk.remove(value, items, { type }, (kept) => (place.kept = kept));
  if (walk.resumable.hasDeferred) yield* walk.resumable.resume();
  return place.kept;
}

/** May be called again: with what is kept so far, and with null if that is nothing in the end. */
type Put = (kept: unknown) => void;

class RemovingWalk {
  readonly resumable = new ResumableWalk();

  remove(value: unknown, items: FieldSet, { type, field }: { type: Type; field?: Field | undefined }, put: Put): void {
    const shape = shapeOf(type, field, value);
    if (shape.kind === 'scalar') put(value);
    else if (shape.atomic) put(null);
    else if (shape.kind === 'list') {
      if (Array.isArray(value)) this.#removeFromList(value, items, shape, put);
      else put(null);
    } else if (isPlainObject(value)) this.#removeFromMap(value, items, shape, put);
    else put(null);
  }

  #removeFromList(value: readonly unknown[], items: FieldSet, shape: ListShape, put: Put): void {
    const kept: unknown[] = [];
    put(kept);
    const look = (at: number): void => {
      const item = value[at];
      const element = itemElement(shape, item);
      if (items.hasMember(element)) return;
      const below = items.below(element);
      const position = kept.push(item) - 1;
      if (!below.empty) this.remove(item, below, { type: shape.element }, (left) => (kept[position] = left));
    };
    this.resumable.each(value.length, look, () => {
      if (kept.length === 0) put(null);
    });
  }

  #removeFromMap(value: JsonObject, items: FieldSet, shape: MapShape, put: Put): void {
    const kept: JsonObject = {};
    put(kept);
    let empty = true;
    const names = this.resumable.names(value);
    const look = (at: number): void => {
      const name = names[at] as string;
      const { element, type = DEDUCED, field } = memberOf(shape, name);
      if (items.hasMember(element)) return;
      empty = false;
      setMember(kept, name, value[name]);
      const below = items.below(element);
      if (!below.empty) this.remove(value[name], below, { type, field }, (left) => setMember(kept, name, left));
    };
    this.resumable.each(names.length, look, () => {
      if (empty) put(null);
    });
  }
}
