// JSON merge patch (RFC 7386).
import { isJsonObject } from '../lib/json/float-literal.js';
import { ResumableWalk } from '../lib/scheduling/resumable-walk.js';
import { setMember } from '../lib/values/plain-object.js';
import { runSync, type StepGenerator } from '../lib/scheduling/yield.js';
import type { JsonObject } from './object.js';
import { badRequest } from './status.js';

/**
 * The patched document, sharing what the patch leaves alone; neither argument is changed. Throws StatusError when
 * `patch` is no object.
 */
export const applyMergePatch = (document: JsonObject, patch: unknown): JsonObject =>
  runSync(mergePatchSteps(document, patch));

/** applyMergePatch() in steps, for large documents and patches. */
export function* mergePatchSteps(document: JsonObject, patch: unknown): StepGenerator<JsonObject> {
  if (!isJsonObject(patch)) throw badRequest('Invalid JSON Patch');
  const resumable = new ResumableWalk();
  const merged = merge(resumable, document, patch);
  if (resumable.hasDeferred) yield* resumable.resume();
  return merged;
}

function merge(resumable: ResumableWalk, document: JsonObject, patch: JsonObject): JsonObject {
  const merged: JsonObject = {};
  const before = resumable.names(document);
  const putBefore = (at: number): void => {
    const key = before[at] as string;
    const current = document[key];
    const value = Object.hasOwn(patch, key) ? patch[key] : undefined;
    if (value === undefined) setMember(merged, key, current);
    else if (value !== null) setMember(merged, key, mergedMember(resumable, current, value));
  };
  resumable.each(before.length, putBefore, () => {
    const names = resumable.names(patch);
    resumable.each(names.length, (at) => {
      const key = names[at] as string;
      const value = patch[key];
      if (value !== null && !Object.hasOwn(document, key)) setMember(merged, key, withoutNulls(resumable, value));
    });
  });
  return merged;
}

/** A list in place of an object is kept as it is; anywhere else nulls inside the new value are dropped. */
function mergedMember(resumable: ResumableWalk, current: unknown, value: unknown): unknown {
  if (!isJsonObject(current)) return withoutNulls(resumable, value);
  return isJsonObject(value) ? merge(resumable, current, value) : value;
}

function withoutNulls(resumable: ResumableWalk, value: unknown): unknown {
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    resumable.each(value.length, (at) => list.push(withoutNulls(resumable, value[at])));
    return list;
  }
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  const names = resumable.names(value);
  resumable.each(names.length, (at) => {
    const key = names[at] as string;
    if (value[key] !== null) setMember(kept, key, withoutNulls(resumable, value[key]));
  });
  return kept;
}
