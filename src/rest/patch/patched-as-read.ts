// kube-apiserver patches text and reads the result: errors come in the order of that text, and a refusal shows it.
import { goValueText } from '../../lib/go/value.js';
import { isJsonObject } from '../../lib/json/float-literal.js';
import type { JsonObject, KubeObject } from '../../machinery/object.js';
import { parseJsonTree } from '../../schema/json/decode.js';
import { encodeJson } from '../../schema/json/encode.js';
import { leftOfPatch } from '../../schema/patch/left-of-patch.js';
import type { StructType } from '../../schema/type.js';

/** A strategic patch is made on a struct: its refusal shows the patch itself. */
export const strategicPatchText = (live: Readonly<KubeObject>, patch: JsonObject, type: StructType): string =>
  goValueText(leftOfPatch(live as unknown as JsonObject, patch, type));

export interface TextPatch {
  readonly live: Readonly<KubeObject>;
  readonly type: StructType;
  /** The operations of a JSON patch: what they put in is read as it was sent. Of a merge patch it is sorted, too. */
  readonly operations: unknown;
}

/**
 * The patched encoding of the object, by `apply`. What the patch left alone stands as it was encoded; objects it reached
 * into have their members sorted.
 */
export function patchedAsRead(
  { live, type, operations }: TextPatch,
  apply: (document: Readonly<KubeObject>) => unknown,
): unknown {
  const encoded = parseJsonTree(encodeJson(type, live)).value as KubeObject;
  const untouched = new Set<unknown>();
  collectObjects(encoded, untouched);
  collectObjects(operations, untouched);
  return sortTouched(apply(encoded), untouched);
}

function collectObjects(value: unknown, found: Set<unknown>): void {
  if (typeof value !== 'object' || value === null) return;
  found.add(value);
  for (const member of Object.values(value)) collectObjects(member, found);
}

function sortTouched(value: unknown, untouched: ReadonlySet<unknown>): unknown {
  if (untouched.has(value)) return value;
  if (Array.isArray(value)) return value.map((item) => sortTouched(item, untouched));
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sortTouched(value[name], untouched)]));
}
