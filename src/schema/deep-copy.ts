import { FloatLiteral } from '../lib/json/float-literal.js';
import { cacheKeys } from '../lib/values/key-cache.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { SizedWork } from '../lib/scheduling/sized-work.js';
import { ResumableWalk } from '../lib/scheduling/resumable-walk.js';
import type { StepGenerator } from '../lib/scheduling/yield.js';
import { isPlainObject, setMember } from '../lib/values/plain-object.js';
import { fieldsText } from './lazy-fields.js';

// hot: every write copies the object it starts from.

/** A copy that shares nothing with the value but field sets that nobody can change. JSON-shaped values only. */
export function deepCopy<T>(value: T): T;
export function deepCopy(value: unknown): unknown {
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const item of value) list.push(typeof item === 'object' ? deepCopy(item) : item);
    return list;
  }
  if (!isPlainObject(value)) return value;
  const object: Record<string, unknown> = {};
  // for..in is several times faster than Object.entries, and plain objects inherit no members.
  for (const key in value) {
    const member = value[key];
    if (typeof member !== 'object' || member === null) setMember(object, key, member);
    else if (key === 'fieldsV1' && fieldsText(member) !== undefined) object[key] = member;
    else setMember(object, key, deepCopy(member));
  }
  return object;
}

/** As deepCopy(); a large value is copied cooperatively. */
export const copyOf = <T>(value: T, work: SizedWork): MaybePromise<T> =>
  work.isLarge ? work.run(deepCopySteps(value, { closesMaps: true })) : deepCopy(value);

/** Copies large values cooperatively. `closesMaps`: maps of the value that are closed are so in the copy. */
export function* deepCopySteps<T>(value: T, { closesMaps = false } = {}): StepGenerator<T> {
  const walk = new CopyWalk(closesMaps);
  const copy = walk.copyOf(value);
  if (walk.resumable.hasDeferred) yield* walk.resumable.resume();
  return copy as T;
}

/** A copy of an object, with those of its members that are in `kept` as they are. */
// hot: on every patch of a status.
export function* copyBesideSteps(
  object: Readonly<Record<string, unknown>>,
  kept: ReadonlySet<unknown>,
): StepGenerator<Record<string, unknown>> {
  const walk = new CopyWalk(false);
  const copy: Record<string, unknown> = {};
  for (const name in object) {
    const member = object[name];
    setMember(copy, name, kept.has(member) ? member : walk.copyOf(member));
  }
  if (walk.resumable.hasDeferred) yield* walk.resumable.resume();
  return copy;
}

class CopyWalk {
  readonly resumable = new ResumableWalk();

  constructor(private readonly closesMaps: boolean) {}

  copyOf(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const list: unknown[] = [];
      this.#copyItems(value, list);
      return list;
    }
    if (!isPlainObject(value) || value instanceof FloatLiteral || fieldsText(value) !== undefined) return value;
    const object: Record<string, unknown> = {};
    this.#copyMembers({ value, object, names: this.resumable.names(value) });
    return object;
  }

  #copyItems(value: readonly unknown[], list: unknown[], from = 0): void {
    for (let at = from; at < value.length; at++) {
      if (!this.resumable.withinBudget()) return this.resumable.defer(() => this.#copyItems(value, list, at));
      list.push(this.copyOf(value[at]));
    }
  }

  #copyMembers(members: Members, from = 0): void {
    const { value, object, names } = members;
    for (let at = from; at < names.length; at++) {
      if (!this.resumable.withinBudget()) return this.resumable.defer(() => this.#copyMembers(members, at));
      const name = names[at] as string;
      const member = value[name];
      if (member !== undefined) setMember(object, name, this.copyOf(member));
    }
    if (this.closesMaps) cacheKeys(object, names);
  }
}

interface Members {
  readonly value: Readonly<Record<string, unknown>>;
  /** The copy. */
  readonly object: Record<string, unknown>;
  /** Those of the value. */
  readonly names: readonly string[];
}
