// JSON inside of texts (annotations, the data of secrets), read as Go reads it, whose words for rubbish errors repeat.
import { cannotUnmarshal } from '../../../lib/go/json-kind.js';
import { isPlainObject, setMember } from '../../../lib/values/plain-object.js';
import { mustType } from '../../../schema/catalogue.js';
import { decodeTree } from '../../../schema/json/decode.js';
import { JsonSyntaxError, parseExactJson } from '../../../schema/json/parse.js';
import { DecodeError } from '../../../schema/json/walk.js';
import type { Type } from '../../../schema/type.js';

export type ReadText<T> = { readonly value: T } | { readonly problem: string };

/** Null is no member at all. */
export const readJsonMap = (text: string): ReadText<Readonly<Record<string, unknown>>> =>
  reading(() => objectOf(parseExactJson(text).value, 'map[string]interface {}'));

/** One value of a type of core/v1, which Go calls by the same name: `v1.AvoidPods`. */
export const readJsonValue = <T>(text: string, type: string): ReadText<T> =>
  reading(() => valueOf<T>(parseExactJson(text).value, type, `v1.${type}`));

/** A list of what core/v1 calls `type`, in the form Go has of it inside: its members have no names but the Go ones. */
export const readInternalList = <T>(text: string, type: string): ReadText<T[]> =>
  reading(() => {
    const { value } = parseExactJson(text);
    if (value === null) return [];
    if (!Array.isArray(value)) throw mismatch(value, `[]core.${type}`);
    return value.map((item) => valueOf<T>(item, type, `core.${type}`));
  }, withGoNames);

function reading<T>(read: () => T, reword = (problem: string): string => problem): ReadText<T> {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError || error instanceof DecodeError)) throw error;
    return { problem: reword(error.message) };
  }
}

function valueOf<T>(tree: unknown, type: string, goType: string): T {
  const struct = mustType(`io.k8s.api.core.v1.${type}`);
  return decodeTree(struct, withKnownNames(struct, objectOf(tree, goType)), { strict: false }).object as T;
}

function objectOf(tree: unknown, goType: string): Record<string, unknown> {
  if (tree === null) return {};
  if (!isPlainObject(tree)) throw mismatch(tree, goType);
  return tree;
}

const mismatch = (tree: unknown, goType: string): DecodeError =>
  new DecodeError(cannotUnmarshal(tree, `Go value of type ${goType}`));

/** Go finds a member however its name is cased: `Key` and `KEY` are `key`. */
function withKnownNames(type: Type, tree: unknown): unknown {
  if (type.kind === 'list' && Array.isArray(tree)) return tree.map((item) => withKnownNames(type.element, item));
  if (type.kind !== 'struct' || !isPlainObject(tree)) return tree;
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(tree)) {
    const field = type.fields.find(({ json }) => json.toLowerCase() === name.toLowerCase());
    if (field === undefined) setMember(known, name, value);
    else known[field.json] = withKnownNames(field.type, value);
  }
  return known;
}

/** `field Taint.key` as `field Taint.Key`. */
const withGoNames = (problem: string): string =>
  problem.replace(/struct field (\w+)\.(\w)/, (_, struct: string, first: string) => {
    return `struct field ${struct}.${first.toUpperCase()}`;
  });
