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
  const resumable = new ResumableWalk();
  const copy = copyIn(resumable, value, closesMaps);
  if (resumable.hasDeferred) yield* resumable.resume();
  return copy as T;
}

function copyIn(resumable: ResumableWalk, value: unknown, closesMaps: boolean): unknown {
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    resumable.each(value.length, (at) => list.push(copyIn(resumable, value[at], closesMaps)));
    return list;
  }
  if (!isPlainObject(value) || value instanceof FloatLiteral || fieldsText(value) !== undefined) return value;
  const object: Record<string, unknown> = {};
  const names = resumable.names(value);
  const copyMember = (at: number): void => {
    const name = names[at] as string;
    const member = value[name];
    if (member !== undefined) setMember(object, name, copyIn(resumable, member, closesMaps));
  };
  resumable.each(names.length, copyMember, closesMaps ? () => cacheKeys(object, names) : undefined);
  return object;
}
