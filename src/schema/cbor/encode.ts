// Objects as `application/cbor`, in kube-apiserver's deterministic form: strings and keys are byte strings, maps are
// sorted by their encoded keys, floats are as short as they can be, bytes carry the tag that says base64.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { mustType } from '../catalogue.js';
import { isAlwaysEncoded, isOmitted, unsetValue } from '../normal-form.js';
import type { ScalarName, StructType, Type } from '../type.js';
import { CborWriter } from './writer.js';

/** The mark in front of every document: tag 55799, "this is CBOR". */
const cborMark = Buffer.from([0xd9, 0xd9, 0xf7]);

export const isCbor = (bytes: Buffer): boolean => bytes.subarray(0, cborMark.length).equals(cborMark);

export function encodeCbor(type: StructType, object: object): Buffer {
  const writer = new CborWriter();
  writer.raw(cborMark);
  writeStruct(type, object, writer);
  return writer.finish();
}

/** A tree without a type: custom resources. */
export function encodeCborTree(tree: unknown): Buffer {
  const writer = new CborWriter();
  writer.raw(cborMark);
  writeTree(tree, writer);
  return writer.finish();
}

/** An event of a watch: its object stands in it as the document it is, mark included. */
export function cborWatchEvent(type: string, object: Buffer): Buffer {
  const writer = new CborWriter();
  writer.raw(cborMark);
  writer.head(5, 2);
  for (const text of ['type', type, 'object']) writer.bytes(Buffer.from(text));
  return Buffer.concat([writer.finish(), object]);
}

/** What is inside of a document, to stand in another. */
export const withoutMark = (document: Buffer): Buffer => document.subarray(cborMark.length);

/** A list's document around its elements: that of the empty list, cut where it says how many there are. */
export function cborListParts(empty: Buffer, member: string, count: number): { head: Buffer; tail: Buffer } {
  const key = new CborWriter();
  key.bytes(Buffer.from(member));
  const named = key.finish();
  const at = empty.indexOf(Buffer.concat([named, NO_ELEMENTS]));
  if (at < 0) throw new Error(`a list without ${member}`);
  const head = new CborWriter();
  head.raw(empty.subarray(0, at + named.length));
  head.head(4, count);
  return { head: head.finish(), tail: empty.subarray(at + named.length + NO_ELEMENTS.length) };
}

const NO_ELEMENTS = Buffer.from([0x80]);

interface Member {
  readonly json: string;
  readonly key: Buffer;
}

const sortedMembers = new WeakMap<StructType, readonly Member[]>();

function membersOf(type: StructType): readonly Member[] {
  let known = sortedMembers.get(type);
  if (known === undefined) {
    known = type.fields
      .map(({ json }) => ({ json, key: Buffer.from(json) }))
      .sort((a, b) => byEncodedKey(a.key, b.key));
    sortedMembers.set(type, known);
  }
  return known;
}

/** An encoded key starts with its length, so that shorter keys come first. */
const byEncodedKey = (a: Buffer, b: Buffer): number => a.length - b.length || Buffer.compare(a, b);

function writeStruct(type: StructType, value: unknown, writer: CborWriter): void {
  const object = bagOf(value);
  const present: { key: Buffer; type: Type; value: unknown }[] = [];
  for (const { json, key } of membersOf(type)) {
    const field = type.byJson.get(json);
    if (field === undefined) continue;
    const member = object[json] ?? (isAlwaysEncoded(field) ? unsetValue(field) : null);
    if (isAlwaysEncoded(field) || !isOmitted(field, member)) present.push({ key, type: field.type, value: member });
  }
  writer.head(5, present.length);
  for (const member of present) {
    writer.bytes(member.key);
    writeValue(member.type, member.value, writer);
  }
}

function writeValue(type: Type, value: unknown, writer: CborWriter): void {
  if (value === null || value === undefined) return writer.null();
  switch (type.kind) {
    case 'struct':
      return writeStruct(type, value, writer);
    case 'list': {
      const items = Array.isArray(value) ? value : [];
      writer.head(4, items.length);
      for (const item of items) writeValue(type.element, item, writer);
      return;
    }
    case 'map':
      return writeMap(bagOf(value), writer, (member) => writeValue(type.value, member, writer));
    case 'scalar':
      return writeScalar(type.scalar, value, writer);
  }
}

function writeScalar(scalar: ScalarName, value: unknown, writer: CborWriter): void {
  switch (scalar) {
    case 'bytes':
      writer.tag(base64Tag);
      return writer.bytes(Buffer.from(typeof value === 'string' ? value : '', 'base64'));
    case 'double':
      return writer.float(Number(value));
    case 'schemaOrArray':
    case 'schemaOrBool':
    case 'schemaOrStringArray':
      return writeSchemaOr(value, writer);
    default:
      return writeTree(value, writer);
  }
}

const base64Tag = 22;

function writeSchemaOr(value: unknown, writer: CborWriter): void {
  if (Array.isArray(value)) {
    writer.head(4, value.length);
    for (const item of value) writeSchemaOr(item, writer);
  } else if (typeof value === 'object' && value !== null) {
    writeStruct(mustType('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'), value, writer);
  } else writeTree(value, writer);
}

function writeTree(value: unknown, writer: CborWriter): void {
  switch (typeof value) {
    case 'string':
      return writer.bytes(Buffer.from(value));
    case 'boolean':
      return writer.bool(value);
    case 'bigint':
      return writer.int(value);
    case 'number':
      return Number.isSafeInteger(value) ? writer.int(value) : writer.float(value);
    case 'object':
      if (value === null) return writer.null();
      if (Array.isArray(value)) {
        writer.head(4, value.length);
        for (const item of value) writeTree(item, writer);
        return;
      }
      return writeMap(bagOf(value), writer, (member) => writeTree(member, writer));
    default:
      return writer.null();
  }
}

function writeMap(object: Record<string, unknown>, writer: CborWriter, write: (value: unknown) => void): void {
  const members = Object.entries(object)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key: Buffer.from(key), value }))
    .sort((a, b) => byEncodedKey(a.key, b.key));
  writer.head(5, members.length);
  for (const { key, value } of members) {
    writer.bytes(key);
    write(value);
  }
}

const bagOf = (value: unknown): Record<string, unknown> => (isPlainObject(value) ? { ...value } : {});
