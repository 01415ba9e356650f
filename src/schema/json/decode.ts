// hot: JSON into the normal form of a type.
//
// JSON.parse makes the tree; one walk over it (decode-type.ts) makes it what its type says. The walk keeps no path: when
// something is wrong, the text is read again by explain.ts, which finds the words and the order kube-apiserver would use.
import { isJsonObject } from '../../lib/json/float-literal.js';
import type { StructType, Unstructured } from '../type.js';
import { explain } from './explain.js';
import { structDecoder } from './decode-type.js';
import { mergeRepeated } from './merge-repeated.js';
import { maxJsonDepth, type ParsedJson, type ParseOptions } from './parse.js';
import { noneRepeated, parse, textOf } from './read-text.js';
import { scanJson } from './scan.js';
import { countKeys, DecodeError, Mismatch, type Walk } from './walk.js';

export { DecodeError } from './walk.js';

export interface DecodeOptions {
  /** Collect unknown and duplicate fields. The unknown are dropped either way; what is named twice is read as one only so. */
  readonly strict: boolean;
}

export interface DecodeTreeOptions extends DecodeOptions {
  /** Makes the tree that is reported on: what is wrong is then only looked for once something is, in its order. */
  readonly original?: () => unknown;
  /** Of a custom resource: nulls that its schema does not allow stay, to be refused. */
  readonly keepNulls?: boolean;
  /** Objects in the tree that are in normal form already. */
  readonly done?: ReadonlySet<unknown> | undefined;
}

export interface Decoded {
  readonly object: Record<string, unknown>;
  /** `unknown field "spec.foo"`, `duplicate field "metadata.name"`, in the order of the text; none unless strict. */
  readonly strictErrors: readonly string[];
  /** Something of a type is named twice: the object is what came of all that was said. Only a strict reader notices. */
  readonly repeats?: boolean;
}

export function decodeJson(type: StructType, input: Uint8Array | string, { strict }: DecodeOptions): Decoded {
  if (type.unstructured !== undefined) {
    const { value, duplicates } = parseJsonTree(input, { noteFloats: true });
    return decodeUnstructured(type.unstructured, { tree: value, strict, duplicates });
  }
  const text = textOf(input);
  const scan = scanJson(text);
  if (scan.depth > maxJsonDepth) throw new DecodeError('exceeded max depth');
  const { value } = parse(text, { exact: scan.exactNumbers });
  const walk: Walk = { keys: 0, unknown: 0, count: strict, done: undefined };
  const object = run(type, value, walk, () => parse(text, { exact: true }));
  if (!strict || (walk.unknown === 0 && walk.keys === scan.keys)) return { object, strictErrors: [] };
  const exact = parse(text, { exact: true });
  const { error, mismatch, strictErrors } = explain(type, exact.value, exact.repeated);
  if (error !== undefined) throw new DecodeError(error, mismatch);
  if (exact.repeated.size === 0) return { object, strictErrors };
  const merged = run(type, mergeRepeated(type, exact), notCounting(), () => exact);
  return { object: merged, strictErrors, repeats: true };
}

/** Decodes a tree that is parsed already. The tree is used up: its objects become the result's. */
export function decodeTree(
  type: StructType,
  tree: unknown,
  { strict, original, keepNulls, done }: DecodeTreeOptions,
): Decoded {
  if (type.unstructured !== undefined)
    return decodeUnstructured(type.unstructured, { tree, strict, duplicates: [], keepNulls });
  const explained = strict && original === undefined ? explain(type, tree, noneRepeated) : undefined;
  const walk = notCounting(done);
  const object = run(type, tree, walk, () => ({ value: original?.() ?? tree, repeated: noneRepeated }));
  if (!strict || (explained === undefined && walk.unknown === 0)) return { object, strictErrors: [] };
  return { object, strictErrors: (explained ?? explain(type, original?.(), noneRepeated)).strictErrors };
}

const notCounting = (done?: ReadonlySet<unknown>): Walk => ({ keys: 0, unknown: 0, count: false, done });

/** Brings an object into the normal form of its type, in place where that is possible. */
export const normalize = (type: StructType, object: unknown): Record<string, unknown> =>
  decodeTree(type, object, { strict: false }).object;

/** A JSON text as a tree without a type: for custom resources and patches. */
export function parseJsonTree(
  input: Uint8Array | string,
  { keepFloats = false, noteFloats = false }: ParseOptions = {},
): { value: unknown; duplicates: string[] } {
  const text = textOf(input);
  const scan = scanJson(text);
  if (scan.depth > maxJsonDepth) throw new DecodeError('exceeded max depth');
  const { exactNumbers: exactly } = scan;
  const { value, repeated } = parse(text, { exact: exactly, keepFloats: keepFloats && exactly, noteFloats });
  if (countKeys(value) === scan.keys) return { value, duplicates: [] };
  const exact = repeated.size > 0 ? { value, repeated } : parse(text, { exact: true, keepFloats });
  return { value: exact.value, duplicates: [...explain(undefined, exact.value, exact.repeated).strictErrors] };
}

interface UnstructuredInput {
  readonly tree: unknown;
  readonly strict: boolean;
  readonly duplicates: readonly string[];
  readonly keepNulls?: boolean | undefined;
}

function decodeUnstructured(rules: Unstructured, { tree, strict, duplicates, keepNulls }: UnstructuredInput): Decoded {
  // Nothing is read as an object that has nothing.
  if (tree === null) return decodeUnstructured(rules, { tree: {}, strict, duplicates });
  if (!isJsonObject(tree)) {
    const found = Array.isArray(tree) ? 'array' : typeof tree;
    throw new DecodeError(`json: cannot unmarshal ${found} into Go value of type map[string]interface {}`);
  }
  const unknown = (rules.readAs?.(tree) ?? rules).coerce(tree, strict, keepNulls);
  if (!strict) return { object: tree, strictErrors: [] };
  return { object: tree, strictErrors: [...duplicates, ...unknown.map((path) => `unknown field "${path}"`)] };
}

function run(type: StructType, value: unknown, walk: Walk, again: () => ParsedJson): Record<string, unknown> {
  try {
    return structDecoder(type)(value, walk);
  } catch (error) {
    if (error instanceof RangeError) throw new DecodeError('exceeded max depth');
    if (!(error instanceof Mismatch) && !(error instanceof DecodeError)) throw error;
    const exact = again();
    const explained = explain(type, exact.value, exact.repeated);
    throw new DecodeError(explained.error ?? error.message, explained.mismatch);
  }
}
