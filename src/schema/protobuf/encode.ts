// hot: an object as kube-apiserver's protobuf message, byte for byte.
//
// As with JSON, each type gets a function written as source on first use. Fields are written from the highest number to
// the lowest because the writer works backwards. What is no pointer is written even when it is zero.
import { compileFunction, Scope } from '../../lib/values/compile-function.js';
import { sortTexts } from '../../lib/values/sort-few.js';
import { mustType } from '../catalogue.js';
import { parseDuration, parseTime } from '../../machinery/time.js';
import { encodeTree } from '../json/encode.js';
import { fieldsText } from '../lazy-fields.js';
import type { EmbeddedMessage, Field, ScalarName, StructType, Type } from '../type.js';
import { wireTypeOf } from './wire-type.js';
import { Writer } from './writer.js';

/** The message without an envelope. */
export function encodeMessage(type: StructType, object: object): Buffer {
  const writer = spareWriter;
  try {
    writeMessage(type, object, writer);
    return writer.finish();
  } finally {
    writer.reset();
  }
}

/** Writes the message's fields in front of what the writer holds. */
export const writeMessage = (type: StructType, object: object, writer: Writer): void =>
  structWriter(type)(object, writer);

/** Encoding is synchronous and never nested, so that one buffer serves all. */
const spareWriter = new Writer();

type Write = (value: unknown, writer: Writer) => void;

const structWriters = new WeakMap<StructType, Write>();

function structWriter(type: StructType): Write {
  let known = structWriters.get(type);
  if (known === undefined) {
    known = compileStruct(type);
    structWriters.set(type, known);
  }
  return known;
}

function compileStruct(type: StructType): Write {
  const scope = new Scope();
  scope.values.set('sortTexts', sortTexts);
  const parts: { proto: number; source: string }[] = [];
  for (const field of type.fields) {
    if (field.proto > 0 && field.embedded !== true)
      parts.push({ proto: field.proto, source: fieldSource(field, scope) });
  }
  for (const message of type.embedded ?? []) {
    parts.push({ proto: message.proto, source: embeddedSource(message, scope) });
  }
  parts.sort((a, b) => b.proto - a.proto);
  const lines = parts.map(({ source }) => source);
  return compileFunction(scope.values, ['return function write(o, w) {', 'let v, e;', ...lines, '};'].join('\n'));
}

/** An inlined type reads the same object. */
const embeddedSource = ({ proto, type }: EmbeddedMessage, scope: Scope): string =>
  `e = w.written; ${scope.use('write', lazily(type))}(o, w); w.varint(w.written - e); ${tagSource(proto, 2)}`;

const lazily = (type: StructType): Write => {
  let write: Write | undefined;
  return (value, writer) => (write ??= structWriter(type))(value ?? {}, writer);
};

function fieldSource(field: Field, scope: Scope): string {
  const { type, proto, pointer } = field;
  const read = `v = o[${JSON.stringify(field.json)}];`;
  if (type.kind === 'list' && type.message !== true) {
    const write = valueSource(type.element, 'v[i]', scope);
    return `${read} if (v) for (let i = v.length - 1; i >= 0; i--) { ${write} ${tagSource(proto, wireTypeOf(type.element))} }`;
  }
  if (type.kind === 'map') {
    const write = valueSource(type.value, 'v[keys[i]]', scope);
    const value = `{ ${write} ${tagSource(2, wireTypeOf(type.value))} }`;
    const entry = `const end = w.written; ${mayBeAbsent(type.value) ? `if (v[keys[i]] !== null) ${value}` : value} w.string(keys[i]); w.byte(10);`;
    return `${read} if (v) { const keys = sortTexts(Object.keys(v)); for (let i = keys.length - 1; i >= 0; i--) { ${entry} w.varint(w.written - end); ${tagSource(proto, 2)} } }`;
  }
  const write = `${valueSource(type, 'v', scope)} ${tagSource(proto, wireTypeOf(type))}`;
  const optional = pointer || mayBeAbsent(type);
  return optional ? `${read} if (v !== undefined && v !== null) { ${write} }` : `${read} ${write}`;
}

/** Bytes and wrapped lists may be unset without being pointers. */
const mayBeAbsent = (type: Type): boolean =>
  type.kind === 'list' || (type.kind === 'scalar' && type.scalar === 'bytes');

/** Source that writes a value with its length, if it has one, but without the tag. */
function valueSource(type: Type, value: string, scope: Scope): string {
  if (type.kind === 'scalar') {
    switch (type.scalar) {
      case 'string':
        return `w.string(${value} ?? "");`;
      case 'bool':
        return `w.byte(${value} ? 1 : 0);`;
      case 'int32':
      case 'int64':
        return `w.int(${value} ?? 0);`;
      case 'double':
        return `w.double(${value} ?? 0);`;
      case 'bytes':
        return `w.base64(${value} ?? "");`;
      default:
        return messageSource(scope.use('write', scalarMessages[type.scalar]), value);
    }
  }
  return messageSource(scope.use('write', type.kind === 'struct' ? lazily(type) : listMessage(type)), value);
}

const messageSource = (write: string, value: string): string =>
  `{ const e = w.written; ${write}(${value}, w); w.varint(w.written - e); }`;

function listMessage(type: Type): Write {
  if (type.kind !== 'list') throw new Error(`protobuf has no ${type.kind} inside a list or map`);
  const scope = new Scope();
  const write = valueSource(type.element, 'v[i]', scope);
  return compileFunction(
    scope.values,
    `return function write(v, w) { if (v) for (let i = v.length - 1; i >= 0; i--) { ${write} ${tagSource(1, wireTypeOf(type.element))} } };`,
  );
}

function tagSource(proto: number, wireType: number): string {
  const tag = proto * 8 + wireType;
  return tag < 0x80 ? `w.byte(${tag});` : `w.varint(${tag});`;
}

const zeroTimeText = '0001-01-01T00:00:00Z';

function writeTime(value: unknown, writer: Writer): void {
  if (typeof value !== 'string' || value === '' || value === zeroTimeText) return;
  writer.byte(0);
  writer.byte(0x10);
  writer.int(parseTime(value).seconds);
  writer.byte(0x08);
}

function writeMicroTime(value: unknown, writer: Writer): void {
  if (typeof value !== 'string' || value === '') return;
  const { seconds, nanos } = parseTime(value);
  writer.int(nanos);
  writer.byte(0x10);
  writer.int(seconds);
  writer.byte(0x08);
}

function writeIntOrString(value: unknown, writer: Writer): void {
  const isText = typeof value === 'string';
  writer.string(isText ? value : '');
  writer.byte(0x1a);
  writer.int(typeof value === 'number' ? value : 0);
  writer.byte(0x10);
  writer.byte(isText ? 1 : 0);
  writer.byte(0x08);
}

/** JSON inside protobuf stays JSON. */
function writeJson(value: unknown, writer: Writer): void {
  if (value === undefined || value === null) return;
  writer.bytes(Buffer.from(encodeTree(value, 'asIs')));
  writer.byte(0x0a);
}

/** Most field sets are known by their text. */
function writeFieldsV1(value: unknown, writer: Writer): void {
  const text = typeof value === 'object' && value !== null ? fieldsText(value) : undefined;
  if (text === undefined) return writeJson(value, writer);
  writer.string(text);
  writer.byte(0x0a);
}

function writeDuration(value: unknown, writer: Writer): void {
  writer.int(typeof value === 'string' ? parseDuration(value) : 0);
  writer.byte(0x08);
}

const writeQuantity: Write = (value, writer) => {
  writer.string(typeof value === 'string' ? value : '0');
  writer.byte(0x0a);
};

function writeSchema(value: unknown, writer: Writer, tag: number): void {
  if (typeof value !== 'object' || value === null) return;
  const before = writer.written;
  writeMessage(schemaType(), value, writer);
  writer.varint(writer.written - before);
  writer.byte(tag);
}

let schema: StructType | undefined;
const schemaType = (): StructType =>
  (schema ??= mustType('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'));

function writeSchemaOrArray(value: unknown, writer: Writer): void {
  if (!Array.isArray(value)) return writeSchema(value, writer, 0x0a);
  for (const item of value.toReversed()) writeSchema(item, writer, 0x12);
}

function writeSchemaOrBool(value: unknown, writer: Writer): void {
  writeSchema(value, writer, 0x12);
  writer.byte(value === true || (typeof value === 'object' && value !== null) ? 1 : 0);
  writer.byte(0x08);
}

function writeSchemaOrStrings(value: unknown, writer: Writer): void {
  if (!Array.isArray(value)) return writeSchema(value, writer, 0x0a);
  for (const item of value.toReversed()) {
    writer.string(String(item));
    writer.byte(0x12);
  }
}

const scalarMessages: Readonly<Partial<Record<ScalarName, Write>>> = {
  quantity: writeQuantity,
  time: writeTime,
  microTime: writeMicroTime,
  duration: writeDuration,
  intOrString: writeIntOrString,
  any: writeJson,
  rawExtension: writeJson,
  fieldsV1: writeFieldsV1,
  schemaOrArray: writeSchemaOrArray,
  schemaOrBool: writeSchemaOrBool,
  schemaOrStringArray: writeSchemaOrStrings,
};
