// JSON merge patch (RFC 7386).
import { isJsonObject } from '../lib/float-literal.js';
import { Parts } from '../lib/parts.js';
import { setMember } from '../lib/plain-object.js';
import { atOnce, type Steps } from '../lib/turns.js';
import type { JsonObject } from './object.js';
import { badRequest } from './status.js';

/**
 * The patched document, sharing what the patch leaves alone; neither argument is changed. Throws StatusError when
 * `patch` is no object.
 */
export const applyMergePatch = (document: JsonObject, patch: unknown): JsonObject =>
  atOnce(mergePatchSteps(document, patch));

/** The same, for large documents and patches. */
export function* mergePatchSteps(document: JsonObject, patch: unknown): Steps<JsonObject> {
  if (!isJsonObject(patch)) throw badRequest('Invalid JSON Patch');
  const parts = new Parts();
  const merged = merge(parts, document, patch);
  if (parts.isLeft) yield* parts.rest();
  return merged;
}

function merge(parts: Parts, document: JsonObject, patch: JsonObject): JsonObject {
  const merged: JsonObject = {};
  const before = parts.names(document);
  const putBefore = (at: number): void => {
    const key = before[at] as string;
    const current = document[key];
    const value = Object.hasOwn(patch, key) ? patch[key] : undefined;
    if (value === undefined) setMember(merged, key, current);
    else if (value !== null) setMember(merged, key, mergedMember(parts, current, value));
  };
  parts.each(before.length, putBefore, () => {
    const names = parts.names(patch);
    parts.each(names.length, (at) => {
      const key = names[at] as string;
      const value = patch[key];
      if (value !== null && !Object.hasOwn(document, key)) setMember(merged, key, withoutNulls(parts, value));
    });
  });
  return merged;
}

/** A list in place of an object is taken as it is; anywhere else nulls inside the new value are dropped. */
function mergedMember(parts: Parts, current: unknown, value: unknown): unknown {
  if (!isJsonObject(current)) return withoutNulls(parts, value);
  return isJsonObject(value) ? merge(parts, current, value) : value;
}

function withoutNulls(parts: Parts, value: unknown): unknown {
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    parts.each(value.length, (at) => list.push(withoutNulls(parts, value[at])));
    return list;
  }
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  const names = parts.names(value);
  parts.each(names.length, (at) => {
    const key = names[at] as string;
    if (value[key] !== null) setMember(kept, key, withoutNulls(parts, value[key]));
  });
  return kept;
}
