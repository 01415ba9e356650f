// What a patch must be before it is one: kube-apiserver decodes each kind into a Go type, and reports what does not fit.
import { isJsonObject } from '../../lib/json/float-literal.js';
import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import type { JsonObject } from '../../machinery/object.js';
import { badRequest, type StatusError } from '../../machinery/status.js';

const ANY_OBJECT = 'map[string]interface {}';

/** The operations of a JSON patch; null has none. `strict` is how kube-apiserver reads unless unknown fields are ignored. */
export function jsonPatchShape(patch: unknown, strict: boolean): unknown {
  if (strict) checkOperations(patch);
  return patch ?? [];
}

export function mergePatchShape(patch: unknown, strict: boolean): unknown {
  if (strict && !fitsObject(patch)) throw undecoded(patch, `value of type ${ANY_OBJECT}`);
  return patch;
}

/** Null changes nothing. */
export function strategicPatchShape(patch: unknown): JsonObject {
  if (!fitsObject(patch)) {
    throw badRequest(cannotUnmarshal(patch, `Go value of type ${ANY_OBJECT}`));
  }
  return patch ?? {};
}

function checkOperations(patch: unknown): void {
  if (patch === null) return;
  if (!Array.isArray(patch)) throw undecoded(patch, 'value of type []handlers.jsonPatchOp');
  for (const operation of patch) {
    if (!fitsObject(operation)) throw undecoded(operation, 'value of type handlers.jsonPatchOp');
    for (const member of ['op', 'path', 'from']) {
      const value = operation?.[member] ?? '';
      if (typeof value !== 'string') throw undecoded(value, `struct field jsonPatchOp.${member} of type string`);
    }
  }
}

const fitsObject = (value: unknown): value is JsonObject | null => value === null || isJsonObject(value);

const undecoded = (value: unknown, into: string): StatusError =>
  badRequest(`error decoding patch: ${cannotUnmarshal(value, `Go ${into}`)}`);
