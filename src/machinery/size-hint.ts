// Objects that became larger on their way than what was sent of them, by what others have to say: a pod by the defaults of
// its namespace. This keeps by how much, for as long as they live: the size of an object decides where its rules are
// run.

import { LARGE, LARGE_BYTES, SMALL, type SizedWork } from '../lib/scheduling/sized-work.js';
import { keysOf } from '../lib/values/key-cache.js';

const hints = new WeakMap<object, number>();

/** `bytes`: the approximate encoded size of what was added. */
export function addSizeHint(object: object, bytes: number): void {
  hints.set(object, sizeHint(object) + bytes);
}

export const sizeHint = (object: object): number => hints.get(object) ?? 0;

/** From so many bytes on what is larger makes no difference. */
const MAX_BYTES = 256 * 1024;
/** Of the punctuation around a value. */
const ENTRY_BYTES = 4;

/** As addSizeHint(), of an object that is new altogether. */
export const setSizeHint = (object: object): void => addSizeHint(object, treeBytes(object));

/** About as many bytes as the tree has when it is encoded, as far as they make a difference. */
export const treeBytes = (object: object): number => MAX_BYTES - leftOf(object, MAX_BYTES);

/** Work on a tree whose size nobody has said. */
export const workOnTree = (object: object): SizedWork => (hasBytes(object, LARGE_BYTES) ? LARGE : SMALL);

/** About, and without looking at more of it. */
export const hasBytes = (object: object, bytes: number): boolean => leftOf(object, bytes) <= 0;

function leftOf(value: unknown, bytes: number): number {
  if (typeof value === 'string') return bytes - value.length - ENTRY_BYTES;
  if (typeof value !== 'object' || value === null) return bytes - ENTRY_BYTES;
  const members = value as Readonly<Record<string, unknown>>;
  let left = bytes;
  for (const name of keysOf(members)) {
    if (left <= 0) return 0;
    // Field sets are parsed lazily, and describe what is counted anyway.
    if (name !== 'fieldsV1') left = leftOf(members[name], left - (Array.isArray(value) ? 0 : name.length));
  }
  return left;
}
