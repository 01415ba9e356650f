import { isPlainObject } from '../../lib/values/plain-object.js';
import { ResumableWalk } from '../../lib/scheduling/resumable-walk.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import type { JsonObject } from '../../machinery/object.js';

/** Equality of JSON values, whatever the order of members, as in valuesEqual(); for large ones. */
export function* equalSteps(left: unknown, right: unknown): StepGenerator<boolean> {
  const walk = new EqualityWalk();
  walk.visit(left, right);
  if (walk.resumable.hasDeferred) yield* walk.resumable.resume();
  return walk.equal;
}

class EqualityWalk {
  equal = true;
  readonly resumable = new ResumableWalk();

  visit(left: unknown, right: unknown): void {
    if (left === right) return;
    if (Array.isArray(left)) {
      if (!Array.isArray(right) || left.length !== right.length) this.#differ();
      else this.#visitItems(left, right);
    } else if (isPlainObject(left) && isPlainObject(right)) this.#visitMembers(left, right, this.resumable.names(left));
    else this.#differ();
  }

  #visitItems(left: readonly unknown[], right: readonly unknown[], from = 0): void {
    for (let at = from; at < left.length; at++) {
      if (!this.resumable.withinBudget()) return this.resumable.defer(() => this.#visitItems(left, right, at));
      this.visit(left[at], right[at]);
    }
  }

  /** `names`: those on the left. */
  #visitMembers(left: Members, right: Members, names: readonly string[], from = 0): void {
    for (let at = from; at < names.length; at++) {
      if (!this.resumable.withinBudget()) return this.resumable.defer(() => this.#visitMembers(left, right, names, at));
      const name = names[at] as string;
      if (Object.hasOwn(right, name)) this.visit(left[name], right[name]);
      else this.#differ();
    }
    // All that is on the left is on the right: there must be no more of it.
    if (this.resumable.names(right).length !== names.length) this.#differ();
  }

  #differ(): void {
    this.equal = false;
    this.resumable.end();
  }
}

type Members = Readonly<JsonObject>;
