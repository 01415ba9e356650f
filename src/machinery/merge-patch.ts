// JSON merge patch (RFC 7386).
import { setMember } from '../lib/plain-object.js';
import type { JsonObject } from './object.js';
import { badRequest } from './status.js';

/**
 * The patched document, sharing what the patch leaves alone; neither argument is changed. Throws StatusError when
 * `patch` is no object.
 */
export function applyMergePatch(document: JsonObject, patch: unknown): JsonObject {
  if (!isObject(patch)) throw badRequest('Invalid JSON Patch');
  return merge(document, patch);
}

function merge(document: JsonObject, patch: JsonObject): JsonObject {
  const merged = { ...document };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      delete merged[key];
      continue;
    }
    const current = Object.hasOwn(merged, key) ? merged[key] : undefined;
    if (isObject(current) && isObject(value)) setMember(merged, key, merge(current, value));
    // A list in place of an object is taken as it is; anywhere else nulls inside the new value are dropped.
    else setMember(merged, key, isObject(current) ? value : withoutNulls(value));
  }
  return merged;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== null) setMember(kept, key, withoutNulls(member));
  }
  return kept;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
