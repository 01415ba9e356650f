import { setMember } from '../lib/plain-object.js';

/** A copy that shares nothing with the original. JSON-shaped values only. */
export function deepCopy<T>(value: T): T;
export function deepCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const list: unknown[] = Array.from({ length: value.length });
    for (let i = 0; i < value.length; i++) list[i] = deepCopy(value[i]);
    return list;
  }
  const object: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) setMember(object, key, deepCopy(member));
  return object;
}
