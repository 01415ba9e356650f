// hot: JSON into the normal form of a type.
//
// JSON.parse makes the tree; one walk over it, closed over each type once, checks types, canonicalises scalars, drops
// what is empty or unknown and fills in what is always printed. The walk keeps no path: when something is wrong, the
// text is read again by explain.ts, which finds the words and the order the reference would use.
import { noteGivenEmpty } from '../../machinery/given-empty.js';
import { setMember } from '../../lib/plain-object.js';
import { printedFields, unsetValue, zeroStruct, zeroValue, isStructInGo } from '../normal-form.js';
import type { Field, StructType, Type, Unstructured } from '../type.js';
import { explain } from './explain.js';
import { FloatLiteral, JsonSyntaxError, maxJsonDepth, type ParsedJson, parseExactJson } from './parse.js';
import { decodeScalar, plain } from './scalar.js';
import { scanJson } from './scan.js';
import { countKeys, DecodeError, Mismatch, type Walk } from './walk.js';

export { DecodeError } from './walk.js';

export interface DecodeOptions {
  /** Collect unknown and duplicate fields. They are dropped either way. */
  readonly strict: boolean;
}

export interface DecodeTreeOptions extends DecodeOptions {
  /** The same tree once more, where there is one: what is wrong is then only looked for once something is. */
  readonly original?: unknown;
}

export interface Decoded {
  readonly object: Record<string, unknown>;
  /** `unknown field "spec.foo"`, `duplicate field "metadata.name"`, in the order of the text; none unless strict. */
  readonly strictErrors: readonly string[];
}

export function decodeJson(type: StructType, input: Uint8Array | string, { strict }: DecodeOptions): Decoded {
  if (type.unstructured !== undefined) {
    const { value, duplicates } = parseJsonTree(input);
    return decodeUnstructured(type.unstructured, value, strict, duplicates);
  }
  const text = textOf(input);
  const scan = scanJson(text);
  if (scan.depth > maxJsonDepth) throw new DecodeError('exceeded max depth');
  const { value } = parse(text, scan.exactNumbers);
  const walk: Walk = { keys: 0, unknown: 0, count: strict };
  const object = run(type, value, walk, () => parse(text, true, true));
  if (!strict || (walk.unknown === 0 && walk.keys === scan.keys)) return { object, strictErrors: [] };
  const exact = parse(text, true, true);
  return { object, strictErrors: explain(type, exact.value, exact.repeated).strictErrors };
}

/** The same for a tree that is parsed already. The tree is used up: its objects become the result's. */
export function decodeTree(type: StructType, tree: unknown, { strict, original }: DecodeTreeOptions): Decoded {
  if (type.unstructured !== undefined) return decodeUnstructured(type.unstructured, tree, strict, []);
  const explained = strict && original === undefined ? explain(type, tree, noneRepeated) : undefined;
  const walk: Walk = { keys: 0, unknown: 0, count: false };
  const object = run(type, tree, walk, () => ({ value: original ?? tree, repeated: noneRepeated }));
  if (!strict || (explained === undefined && walk.unknown === 0)) return { object, strictErrors: [] };
  return { object, strictErrors: (explained ?? explain(type, original, noneRepeated)).strictErrors };
}

/** Brings an object into the normal form of its type, in place where that is possible. */
export const normalize = (type: StructType, object: unknown): Record<string, unknown> =>
  decodeTree(type, object, { strict: false }).object;

/** A JSON text as a tree without a type: for custom resources and patches. */
export function parseJsonTree(input: Uint8Array | string): { value: unknown; duplicates: string[] } {
  const text = textOf(input);
  const scan = scanJson(text);
  if (scan.depth > maxJsonDepth) throw new DecodeError('exceeded max depth');
  const { value, repeated } = parse(text, scan.exactNumbers, false);
  if (countKeys(value) === scan.keys) return { value, duplicates: [] };
  const exact = repeated.size > 0 ? { value, repeated } : parse(text, true, false);
  return { value: exact.value, duplicates: [...explain(undefined, exact.value, exact.repeated).strictErrors] };
}

function decodeUnstructured(
  rules: Unstructured,
  tree: unknown,
  strict: boolean,
  duplicates: readonly string[],
): Decoded {
  if (!isObject(tree)) {
    const found = Array.isArray(tree) ? 'array' : tree === null ? 'null' : typeof tree;
    throw new DecodeError(`json: cannot unmarshal ${found} into Go value of type map[string]interface {}`);
  }
  const unknown = rules.coerce(tree, strict);
  if (!strict) return { object: tree, strictErrors: [] };
  return { object: tree, strictErrors: [...duplicates, ...unknown.map((path) => `unknown field "${path}"`)] };
}

type Decoder = (value: unknown, walk: Walk) => unknown;

const noneRepeated: ParsedJson['repeated'] = new Map();

function textOf(input: Uint8Array | string): string {
  if (typeof input === 'string') return withoutLoneSurrogates(input);
  const buffer = Buffer.isBuffer(input) ? input : Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  return withoutLoneSurrogates(buffer.toString('utf8'));
}

/** Half a pair of surrogates is no character: it would not come back from the store, which keeps UTF-8. */
function withoutLoneSurrogates(text: string): string {
  if (!text.includes('\\u') || !SURROGATE_ESCAPE.test(text)) return text;
  return text.replace(ESCAPE, (escape) => (LONE_SURROGATE.test(escape) ? '\\ufffd' : escape));
}

const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|[^])/g;
const LONE_SURROGATE = /^\\u[dD][89a-fA-F].{2}$/;

function parse(text: string, exact: boolean, keepFloats = exact): ParsedJson {
  if (!exact) {
    try {
      return { value: JSON.parse(text), repeated: noneRepeated };
    } catch {
      // The exact parser fails too, in the reference's words.
    }
  }
  try {
    return parseExactJson(text, { keepFloats });
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new DecodeError(error.message);
    throw error;
  }
}

function run(type: StructType, value: unknown, walk: Walk, again: () => ParsedJson): Record<string, unknown> {
  try {
    return structDecoder(type)(value, walk);
  } catch (error) {
    if (error instanceof RangeError) throw new DecodeError('exceeded max depth');
    if (!(error instanceof Mismatch)) throw error;
    const exact = again();
    throw new DecodeError(explain(type, exact.value, exact.repeated).error ?? error.message);
  }
}

const structDecoders = new WeakMap<StructType, (value: unknown, walk: Walk) => Record<string, unknown>>();

function structDecoder(type: StructType): (value: unknown, walk: Walk) => Record<string, unknown> {
  let known = structDecoders.get(type);
  if (known === undefined) {
    known = compileStruct(type);
    structDecoders.set(type, known);
  }
  return known;
}

interface Member {
  readonly decode: Decoder;
  readonly isString: boolean;
  /** Null unsets it rather than giving its zero value. */
  readonly pointer: boolean;
  /** Left out when empty. */
  readonly dropEmpty: boolean;
  /** Left out when null. */
  readonly dropNull: boolean;
}

function compileStruct(type: StructType): (value: unknown, walk: Walk) => Record<string, unknown> {
  const members = new Map<string, Member>();
  let printed: readonly Field[] | undefined;
  const { preserveUnknown } = type;

  return function decodeStruct(value, walk) {
    if (value === null) return zeroStruct(type);
    if (!isObject(value)) throw new Mismatch(value);
    if (printed === undefined) {
      printed = printedFields(type);
      for (const field of type.fields) members.set(field.json, compileMember(field));
    }
    let drop: string[] | undefined;
    let givenEmpty: string[] | undefined;
    let keys = 0;
    for (const key in value) {
      keys++;
      const member = members.get(key);
      const before = value[key];
      if (before === undefined) {
        // A tree made by hand may name a member without setting it.
        (drop ??= []).push(key);
        continue;
      }
      if (member === undefined) {
        if (walk.count) keys += countKeys(before);
        if (preserveUnknown === true) {
          setMember(value, key, plain(before));
          continue;
        }
        walk.unknown++;
        (drop ??= []).push(key);
        continue;
      }
      if (member.isString && typeof before === 'string') {
        if (before === '' && member.dropEmpty) (drop ??= []).push(key);
        continue;
      }
      if (before === null && member.pointer) {
        if (member.dropNull) (drop ??= []).push(key);
        continue;
      }
      const after = member.decode(before, walk);
      if ((member.dropEmpty && isEmpty(after)) || (after === null && member.dropNull)) {
        (drop ??= []).push(key);
        if (typeof after === 'object' && after !== null) (givenEmpty ??= []).push(key);
      } else if (after !== before) value[key] = after;
    }
    walk.keys += keys;
    const result = drop === undefined ? value : without(value, drop);
    if (givenEmpty !== undefined) noteGivenEmpty(result, givenEmpty);
    for (const field of printed) if (result[field.json] === undefined) result[field.json] = unsetValue(field);
    return result;
  };
}

function compileMember(field: Field): Member {
  const { type, pointer, omitEmpty } = field;
  const emptiable = omitEmpty && !pointer && !isStructInGo(type);
  return {
    decode: decoderOf(type),
    isString: type.kind === 'scalar' && type.scalar === 'string',
    pointer,
    dropEmpty: emptiable,
    dropNull: (omitEmpty && pointer) || field.omitZero === true,
  };
}

function decoderOf(type: Type): Decoder {
  switch (type.kind) {
    case 'struct': {
      // Looked up on first use: types refer to each other in circles.
      let decode: Decoder | undefined;
      return (value, walk) => (decode ??= structDecoder(type))(value, walk);
    }
    case 'list':
      return listDecoder(decoderOf(type.element), type.element);
    case 'map':
      return mapDecoder(decoderOf(type.value), type.value);
    case 'scalar':
      return decodeScalar(type.scalar, normalizeSchema);
  }
}

/** The schemas inside the opaque schema members: read by their type, but not reported on. */
function normalizeSchema(type: StructType, value: unknown, walk: Walk): unknown {
  const unknown = walk.unknown;
  const result = structDecoder(type)(value, walk);
  walk.unknown = unknown;
  return result;
}

function listDecoder(decode: Decoder, element: Type): Decoder {
  const isString = element.kind === 'scalar' && element.scalar === 'string';
  return (value, walk) => {
    if (value === null) return null;
    if (!Array.isArray(value)) throw new Mismatch(value);
    for (let i = 0; i < value.length; i++) {
      const before: unknown = value[i];
      if (isString && typeof before === 'string') continue;
      const after = before === null ? zeroValue(element) : decode(before, walk);
      if (after !== before) value[i] = after;
    }
    return value;
  };
}

function mapDecoder(decode: Decoder, element: Type): Decoder {
  const isString = element.kind === 'scalar' && element.scalar === 'string';
  return (value, walk) => {
    if (value === null) return null;
    if (!isObject(value)) throw new Mismatch(value);
    for (const key in value) {
      walk.keys++;
      const before = value[key];
      if (isString && typeof before === 'string') continue;
      const after = before === null ? zeroValue(element) : decode(before, walk);
      if (after !== before) setMember(value, key, after);
    }
    return value;
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof FloatLiteral);

function isEmpty(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return value === '';
    case 'number':
      return value === 0;
    case 'boolean':
      return !value;
    case 'object':
      if (value === null) return true;
      if (Array.isArray(value)) return value.length === 0;
      for (const _ in value) return false;
      return true;
    default:
      return false;
  }
}

/** So many are looked through sooner than looked up. */
const FEW = 8;

/** A copy: deleting members would turn the object into a slow one. */
function without(object: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const dropped = names.length < FEW ? { has: (name: string) => names.includes(name) } : new Set(names);
  for (const key in object) if (!dropped.has(key)) setMember(result, key, object[key]);
  return result;
}
