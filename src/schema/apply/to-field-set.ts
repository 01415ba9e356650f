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
  const walk = new FieldsWalk();
  walk.visit(value, type, undefined);
  if (walk.resumable.hasDeferred) yield* walk.resumable.resume();
  return walk.set;
}

class FieldsWalk {
  readonly set = new FieldSet();
  /** The steps to the value that is visited. */
  path: string[] = [];
  readonly resumable = new ResumableWalk(() => samePath(this));

  /** Answers whether it is a map with nothing in it. */
  visit(value: unknown, type: Type, field: Field | undefined): boolean {
    const shape = shapeOf(type, field, value);
    if (shape.kind === 'scalar' || shape.atomic) this.set.insert(this.path);
    else if (shape.kind === 'list') this.#visitItems(value, shape);
    else if (isPlainObject(value)) {
      const names = this.resumable.names(value);
      this.#visitMembers(value, names, shape);
      return names.length === 0;
    }
    return false;
  }

  #visitMembers(value: JsonObject, names: readonly string[], shape: MapShape, from = 0): void {
    for (let at = from; at < names.length; at++) {
      if (!this.resumable.withinBudget())
        return this.resumable.defer(() => this.#visitMembers(value, names, shape, at));
      const name = names[at] as string;
      const member = value[name];
      const { element, type, field } = memberOf(shape, name);
      this.path.push(element);
      const isEmpty =
        type === undefined ? isPlainObject(member) && isEmptyObject(member) : this.visit(member, type, field);
      if (isEmpty || field === undefined || member === null) this.set.insert(this.path);
      this.path.pop();
    }
  }

  /** Of items that cannot be distinguished only the step itself is in the set. */
  #visitItems(value: unknown, shape: ListShape): void {
    if (!Array.isArray(value)) return;
    const { resumable } = this;
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
        this.path.push(element);
        if (!repeated.has(element)) this.visit(value[at], shape.element, undefined);
        this.set.insert(this.path);
        this.path.pop();
      }),
    );
  }
}
