// Objects that became larger on their way than what was sent of them, by what others have to say: a pod by the defaults of
// its namespace. This remembers by how much, for as long as they live: how large an object is decides where its rules are
// run.

import { namesOf } from '../lib/closed-maps.js';

const grown = new WeakMap<object, number>();

/** `bytes`: about as many as what was added has when it is printed. */
export function noteGrown(object: object, bytes: number): void {
  grown.set(object, grownBytes(object) + bytes);
}

export const grownBytes = (object: object): number => grown.get(object) ?? 0;

/** From so many bytes on what is larger makes no difference. */
const MOST_BYTES = 256 * 1024;
/** Of the punctuation around a value. */
const ENTRY_BYTES = 4;

/** As noteGrown(), of an object that is new altogether. */
export function noteSize(object: object): void {
  noteGrown(object, MOST_BYTES - leftOf(object, MOST_BYTES));
}

/** About, and without looking at more of it. */
export const hasBytes = (object: object, bytes: number): boolean => leftOf(object, bytes) <= 0;

function leftOf(value: unknown, bytes: number): number {
  if (typeof value === 'string') return bytes - value.length - ENTRY_BYTES;
  if (typeof value !== 'object' || value === null) return bytes - ENTRY_BYTES;
  const members = value as Readonly<Record<string, unknown>>;
  let left = bytes;
  for (const name of namesOf(members)) {
    if (left <= 0) return 0;
    // Sets of fields are read only where they are looked at, and tell of what is counted anyway.
    if (name !== 'fieldsV1') left = leftOf(members[name], left - (Array.isArray(value) ? 0 : name.length));
  }
  return left;
}
