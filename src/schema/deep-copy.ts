import { Parts } from '../lib/parts.js';
import type { Steps } from '../lib/turns.js';
import { isPlainObject, setMember } from '../lib/plain-object.js';
import { fieldsText } from './unread-fields.js';

// hot: every write copies the object it starts from.

/** A copy that shares nothing with the original but field sets that nobody can change. JSON-shaped values only. */
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

/** The same, for large values. */
export function* deepCopySteps<T>(value: T): Steps<T> {
  const parts = new Parts();
  const copy = copyIn(parts, value);
  if (parts.isLeft) yield* parts.rest();
  return copy as T;
}

function copyIn(parts: Parts, value: unknown): unknown {
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    parts.each(value.length, (at) => list.push(copyIn(parts, value[at])));
    return list;
  }
  if (!isPlainObject(value) || fieldsText(value) !== undefined) return value;
  const object: Record<string, unknown> = {};
  const names = parts.names(value);
  parts.each(names.length, (at) => {
    const name = names[at] as string;
    setMember(object, name, copyIn(parts, value[name]));
  });
  return object;
}
