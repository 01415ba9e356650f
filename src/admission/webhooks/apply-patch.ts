// What a mutating webhook wants changed, brought into the object.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { goQuote } from '../../lib/go/quote.js';
import { applyJsonPatch, JsonPatchError, jsonPatchOperations } from '../../machinery/json-patch.js';
import type { JsonObject, KubeObject } from '../../machinery/object.js';
import { internalError, StatusError } from '../../machinery/status.js';
import { deepCopy } from '../../schema/deep-copy.js';
import { DecodeError, parseJsonTree } from '../../schema/json/decode.js';
import { takeOver } from '../take-over.js';
import type { ResourceMatch } from '../matching/resource-match.js';
import type { PatchMade, SeenRequest, ServedResources } from '../matching/seen-request.js';
import type { Hook } from './hook-index.js';
import { CallFailure, UNAVAILABLE } from './refusals.js';
import type { HookAnswer } from './review.js';
import type { ParsedPatch } from './parsed-patch.js';

/** The operations of an answer; none when it changes nothing. Throws CallFailure for what is no patch. */
export function patchOf(name: string, { patch, patchType }: HookAnswer): readonly unknown[] {
  if (patch.length === 0) return [];
  const operations = decodePatch(name, patch);
  if (operations.length > 0 && patchType !== 'JSONPatch') {
    throw new CallFailure(name, `unsupported patch type ${goQuote(patchType)}`, 400);
  }
  return operations;
}

function decodePatch(name: string, patch: Buffer): readonly unknown[] {
  try {
    return operationsIn(patch);
  } catch (error) {
    if (!(error instanceof DecodeError || error instanceof StatusError)) throw error;
    throw new CallFailure(name, `received undecodable patch in webhook response: ${error.message}`, UNAVAILABLE);
  }
}

export function operationsIn(patch: Buffer): readonly unknown[] {
  const { value } = parseJsonTree(patch);
  return value === null ? [] : jsonPatchOperations(value);
}

export interface HookPatch {
  readonly served: ServedResources;
  readonly hook: Hook;
  readonly request: SeenRequest;
  readonly matched: ResourceMatch;
  readonly patch: Pick<ParsedPatch, 'json' | 'operations'>;
}

/** Whether anything is different after it. What does not fit is the server's error, whatever the failure policy. */
export function applyHookPatch({ served, hook, request, matched, patch }: HookPatch): MaybePromise<boolean> {
  const { attributes } = request;
  const seen = attributes.connectOptions ?? request.inVersion(request.object, matched);
  if (seen === null) {
    throw internalError(
      `admission webhook ${goQuote(hook.name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  const inline = (): PatchMade =>
    patchedObject(seen as JsonObject, patch.operations(), (tree) =>
      served.toStored(matched.resource, matched.kind, tree),
    );
  const isWrite = attributes.connectOptions === undefined;
  const making = isWrite && served.patch !== undefined ? served.patch(matched, seen, patch.json, inline) : inline();
  return whenReady(making, ({ object: made, changed }) =>
    whenReady(request.back(made), (object) => {
      takeOver(attributes, object);
      return changed;
    }),
  );
}

/** What a patch makes of an object, and whether anything is different after it. Throws StatusError. */
export function patchedObject(
  before: JsonObject,
  operations: readonly unknown[],
  toStored: (tree: JsonObject) => KubeObject,
): PatchMade {
  const tree = patched(before, operations);
  const changed = !sameContent(before, tree);
  return { object: decoded(() => toStored(deepCopy(tree))), changed };
}

function patched(before: JsonObject, patch: readonly unknown[]): JsonObject {
  try {
    const tree = applyJsonPatch(before, patch);
    if (isPlainObject(tree)) return tree;
  } catch (error) {
    if (error instanceof JsonPatchError || error instanceof StatusError) throw internalError(error.message);
    throw error;
  }
  throw internalError('json: cannot unmarshal array into Go value of type map[string]interface {}');
}

function decoded(decode: () => KubeObject): KubeObject {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DecodeError) throw internalError(error.message);
    throw error;
  }
}

/** Members that are not there, null or empty are all the same. */
function sameContent(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) && isEmpty(b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameContent(item, b[index]));
  }
  const [left, right] = [a as JsonObject, b as JsonObject];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((name) =>
    sameContent(left[name], right[name]),
  );
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
