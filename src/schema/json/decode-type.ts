// hot: a tree into the normal form of a type: one walk, closed over each type once, checks types, canonicalises scalars,
// drops what is empty or unknown and fills in what is always encoded.
import { isJsonObject } from '../../lib/json/float-literal.js';
import { setMember } from '../../lib/values/plain-object.js';
import { noteExplicitEmpty } from '../../machinery/explicit-empty.js';
import { isStructInGo, encodedFields, unsetValue, zeroElement, zeroStruct } from '../normal-form.js';
import type { Field, StructType, Type } from '../type.js';
import { decodeScalar, plain } from './scalar.js';
import { countKeys, Mismatch, type Walk } from './walk.js';

type Decoder = (value: unknown, walk: Walk) => unknown;

const structDecoders = new WeakMap<StructType, (value: unknown, walk: Walk) => Record<string, unknown>>();

export function structDecoder(type: StructType): (value: unknown, walk: Walk) => Record<string, unknown> {
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
  readonly isMap: boolean;
  /** Null unsets it instead of setting its zero value. */
  readonly pointer: boolean;
  /** Left out when empty. */
  readonly dropEmpty: boolean;
  /** Left out when null. */
  readonly dropNull: boolean;
}

function compileStruct(type: StructType): (value: unknown, walk: Walk) => Record<string, unknown> {
  const members = new Map<string, Member>();
  let encoded: readonly Field[] | undefined;
  const { preserveUnknown } = type;

  return function decodeStruct(value, walk) {
    if (value === null) return zeroStruct(type);
    if (!isJsonObject(value)) throw new Mismatch(value);
    if (encoded === undefined) {
      encoded = encodedFields(type);
      for (const field of type.fields) members.set(field.json, compileMember(field));
    }
    let drop: string[] | undefined;
    let explicitEmpty: Record<string, object> | undefined;
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
      if (walk.done?.has(before)) continue;
      const keysBefore = walk.keys;
      const after = member.decode(before, walk);
      // To find out whether a large map has members costs as much as walking over them.
      const isNothing =
        member.dropEmpty && (member.isMap ? after === null || walk.keys === keysBefore : isEmpty(after));
      if (isNothing || (after === null && member.dropNull)) {
        (drop ??= []).push(key);
        if (typeof after === 'object' && after !== null) (explicitEmpty ??= {})[key] = after;
        else if (member.pointer && typeof before === 'string') (explicitEmpty ??= {})[key] = NO_TIME;
      } else if (after !== before) value[key] = after;
    }
    walk.keys += keys;
    const result = drop === undefined ? value : without(value, drop);
    if (explicitEmpty !== undefined) noteExplicitEmpty(result, explicitEmpty);
    for (const field of encoded) if (result[field.json] === undefined) result[field.json] = unsetValue(field);
    return result;
  };
}

function compileMember(field: Field): Member {
  const { type, pointer, omitEmpty } = field;
  const emptiable = omitEmpty && !pointer && !isStructInGo(type);
  return {
    decode: decoderOf(type),
    isString: type.kind === 'scalar' && type.scalar === 'string',
    isMap: type.kind === 'map',
    pointer,
    dropEmpty: emptiable,
    dropNull: (omitEmpty && pointer) || field.omitZero === true,
  };
}

export function decoderOf(type: Type): Decoder {
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
      const after = before === null ? zeroElement(element) : decode(before, walk);
      if (after !== before) value[i] = after;
    }
    return value;
  };
}

function mapDecoder(decode: Decoder, element: Type): Decoder {
  const isString = element.kind === 'scalar' && element.scalar === 'string';
  return (value, walk) => {
    if (value === null) return null;
    if (!isJsonObject(value)) throw new Mismatch(value);
    for (const key in value) {
      walk.keys++;
      const before = value[key];
      if (isString && typeof before === 'string') continue;
      const after = before === null ? zeroElement(element) : decode(before, walk);
      if (after !== before) setMember(value, key, after);
    }
    return value;
  };
}

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

/** A time that is none, where one may be left out: it is encoded as null is, and is not the same as nothing. */
const NO_TIME = {};

/** So many are looked through sooner than looked up. */
const FEW = 8;

/** A copy: deleting members would make the object a slow one. */
function without(object: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const dropped = names.length < FEW ? { has: (name: string) => names.includes(name) } : new Set(names);
  for (const key in object) if (!dropped.has(key)) setMember(result, key, object[key]);
  return result;
}
