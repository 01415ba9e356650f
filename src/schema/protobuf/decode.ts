// hot: a protobuf message into the normal form of its type. Fields that are not known are passed over. A message that is
// told twice is one message: what the second does not say stays as the first said it.
import { bufferOf } from '../../lib/buffer-of.js';
import { compileFunction, Scope } from '../../lib/compile.js';
import { errorText } from '../../lib/error-text.js';
import { isPlainObject, setMember } from '../../lib/plain-object.js';
import { formatDuration, formatMicroTime, formatTime, parseDuration } from '../../machinery/time.js';
import { canonicalQuantity } from '../../machinery/quantity.js';
import { mustType } from '../catalogue.js';
import { parseJsonTree } from '../json/decode.js';
import { DecodeError } from '../json/walk.js';
import { isAlwaysPrinted, printedFields, unsetValue, zeroValue } from '../normal-form.js';
import type { Field, ScalarName, StructType, Type } from '../type.js';
import { Reader } from './reader.js';
import { refuseEndOfGroup, refuseNumberZero, wrongWireType } from './refusals.js';
import { wireTypeOf } from './wire-type.js';

/** Reads a message without an envelope. */
export function decodeMessage(type: StructType, bytes: Uint8Array): Record<string, unknown> {
  const buffer = bufferOf(bytes);
  try {
    return messageReader(type)(new Reader(buffer));
  } catch (error) {
    if (error instanceof RangeError) throw new DecodeError('exceeded max depth');
    throw error;
  }
}

type ReadInto = (object: Record<string, unknown>, reader: Reader) => void;
type ReadStruct = (reader: Reader, told?: unknown) => Record<string, unknown>;
/** `told` is what the same field was before, if it was. */
type Read = (reader: Reader, told?: unknown) => unknown;

const messageReaders = new WeakMap<StructType, ReadStruct>();
const structReaders = new WeakMap<StructType, ReadInto>();

/** Reads the whole of what the reader is narrowed to, and fills in what is always printed. */
function messageReader(type: StructType): ReadStruct {
  let known = messageReaders.get(type);
  if (known === undefined) {
    let readInto: ReadInto | undefined;
    let printed: readonly Field[] = [];
    known = (reader, told) => {
      if (readInto === undefined) {
        readInto = readerOf(type);
        printed = printedFields(type);
      }
      const object: Record<string, unknown> = isPlainObject(told) ? told : {};
      readInto(object, reader);
      for (const field of printed) if (object[field.json] === undefined) object[field.json] = unsetValue(field);
      return object;
    };
    messageReaders.set(type, known);
  }
  return known;
}

function readerOf(type: StructType): ReadInto {
  let known = structReaders.get(type);
  if (known === undefined) {
    known = compileStruct(type);
    structReaders.set(type, known);
  }
  return known;
}

function compileStruct(type: StructType): ReadInto {
  const scope = new Scope();
  const goName = type.name.slice(type.name.lastIndexOf('.') + 1);
  const wrong = scope.use('wrong', (wireType: number, name: string) => {
    refuseEndOfGroup(wireType, goName);
    throw wrongWireType(wireType, name);
  });
  const unknown = scope.use('unknown', (reader: Reader, wireType: number, proto: number) => {
    refuseEndOfGroup(wireType, goName);
    refuseNumberZero(proto, wireType, goName);
    reader.skip(wireType);
  });
  const cases = type.fields
    .filter((field) => field.proto > 0 && field.embedded !== true)
    .map((field) => `case ${field.proto}: ${fieldSource(field, scope, wrong)} break;`);
  for (const { proto, type: inlined } of type.embedded ?? []) {
    const read = scope.use('read', (object: Record<string, unknown>, reader: Reader) => {
      const outer = reader.enter();
      readerOf(inlined)(object, reader);
      reader.leave(outer);
    });
    cases.push(`case ${proto}: ${checkSource(2, inlined.name, wrong)} ${read}(o, r); break;`);
  }
  const source = [
    'return function read(o, r) {',
    'while (r.pos < r.end) {',
    'const tag = r.varint(), wire = tag & 7;',
    'switch (tag >>> 3) {',
    ...cases,
    `default: ${unknown}(r, wire, tag >>> 3);`,
    '} } };',
  ].join('\n');
  return compileFunction(scope.values, source);
}

const checkSource = (wireType: number, name: string, wrong: string): string =>
  `if (wire !== ${wireType}) ${wrong}(wire, ${JSON.stringify(name)});`;

function fieldSource(field: Field, scope: Scope, wrong: string): string {
  const { type, json } = field;
  const member = `o[${JSON.stringify(json)}]`;
  const goName = json.charAt(0).toUpperCase() + json.slice(1);
  if (type.kind === 'list' && type.message !== true) {
    const wire = wireTypeOf(type.element);
    const read = readSource(type.element, scope);
    const one = `${checkSource(wire, goName, wrong)} (${member} ??= []).push(${read});`;
    if (wire === 2) return one;
    return `if (wire === 2) { const l = ${member} ??= [], outer = r.enter(); while (r.pos < r.end) l.push(${read}); r.leave(outer); } else { ${one} }`;
  }
  if (type.kind === 'map') {
    const entry = scope.use('entry', entryReader(type.value));
    return `${checkSource(2, goName, wrong)} ${entry}(r, ${member} ??= {});`;
  }
  const read = readSource(type, scope, member);
  const check = checkSource(wireTypeOf(type), goName, wrong);
  if (isAlwaysPrinted(field)) return `${check} ${member} = ${read};`;
  // A later occurrence of what is no message replaces an earlier one, also when it is empty.
  const present = field.pointer ? 'true' : 'v !== "" && v !== 0 && v !== false && v !== null && v.length !== 0';
  return `${check} { const v = ${read}; if (${present}) ${member} = v; else delete ${member}; }`;
}

function entryReader(value: Type): (reader: Reader, map: Record<string, unknown>) => void {
  const readValue = valueReader(value);
  return (reader, map) => {
    const outer = reader.enter();
    let key = '';
    let member: unknown;
    while (reader.pos < reader.end) {
      const tag = reader.varint();
      if (tag === 10) key = reader.string();
      else if (Math.floor(tag / 8) === 2) member = readValue(reader);
      else reader.skip(tag & 7);
    }
    reader.leave(outer);
    setMember(map, key, member === undefined ? zeroValue(value) : member);
  };
}

/** An expression that reads a value after its tag; `told` is one for what was there before. */
function readSource(type: Type, scope: Scope, told = 'undefined'): string {
  if (type.kind === 'scalar') {
    const method = scalarMethods[type.scalar];
    if (method !== undefined) return `r.${method}()`;
  }
  return `${scope.use('read', valueReader(type))}(r, ${told})`;
}

const scalarMethods: Readonly<Partial<Record<ScalarName, string>>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'double',
  bytes: 'base64',
};

function valueReader(type: Type): Read {
  switch (type.kind) {
    case 'struct': {
      const read = messageReader(type);
      return (reader, told) => {
        const outer = reader.enter();
        const message = read(reader, told);
        reader.leave(outer);
        return message;
      };
    }
    case 'list': {
      const element = valueReader(type.element);
      return (reader, told) => {
        const items: unknown[] = Array.isArray(told) ? told : [];
        eachField(reader, (proto) => (proto === 1 ? items.push(element(reader)) > 0 : false));
        return items;
      };
    }
    case 'map':
      throw new Error('protobuf has no map inside a list or map');
    case 'scalar':
      return scalarReaders[type.scalar];
  }
}

/** Walks the fields of the message that starts here; `take` says whether it read the field. */
function eachField(reader: Reader, take: (proto: number) => boolean): void {
  const outer = reader.enter();
  while (reader.pos < reader.end) {
    const tag = reader.varint();
    if (!take(Math.floor(tag / 8))) reader.skip(tag & 7);
  }
  reader.leave(outer);
}

function readTime(reader: Reader): unknown {
  const outer = reader.enter();
  const isZero = reader.pos === reader.end;
  const seconds = readSeconds(reader);
  reader.leave(outer);
  return isZero ? null : printable(() => formatTime(seconds));
}

function readMicroTime(reader: Reader): unknown {
  const outer = reader.enter();
  const isZero = reader.pos === reader.end;
  let nanos = 0;
  const seconds = readSeconds(reader, (value) => (nanos = value));
  reader.leave(outer);
  return isZero ? null : printable(() => formatMicroTime(seconds, nanos));
}

function readSeconds(reader: Reader, takeNanos?: (nanos: number) => void): number {
  let seconds = 0;
  while (reader.pos < reader.end) {
    const tag = reader.varint();
    if (tag === 0x08) seconds = Number(reader.int64());
    else if (tag === 0x10) {
      const nanos = reader.int32();
      takeNanos?.(nanos);
    } else reader.skip(tag & 7);
  }
  return seconds;
}

function printable(format: () => string | null): string | null {
  try {
    return format();
  } catch {
    throw new DecodeError('proto: time is out of range');
  }
}

function readIntOrString(reader: Reader, told?: unknown): unknown {
  const outer = reader.enter();
  let isText = typeof told === 'string';
  let number = typeof told === 'number' ? told : 0;
  let text = typeof told === 'string' ? told : '';
  while (reader.pos < reader.end) {
    const tag = reader.varint();
    if (tag === 0x08) isText = reader.int64() === 1;
    else if (tag === 0x10) number = reader.int32();
    else if (tag === 0x1a) text = reader.string();
    else reader.skip(tag & 7);
  }
  reader.leave(outer);
  return isText ? text : number;
}

function readQuantity(reader: Reader, told?: unknown): unknown {
  const outer = reader.enter();
  let text = typeof told === 'string' ? told : '';
  while (reader.pos < reader.end) {
    const tag = reader.varint();
    if (tag === 0x0a) text = reader.string();
    else reader.skip(tag & 7);
  }
  reader.leave(outer);
  if (text === '') return '0';
  try {
    return canonicalQuantity(text);
  } catch (error) {
    throw new DecodeError(errorText(error));
  }
}

function readJson(reader: Reader, told: unknown = null): unknown {
  let value = told;
  eachField(reader, (proto) => {
    if (proto !== 1) return false;
    const raw = reader.bytes();
    value = raw.length === 0 ? null : parseJsonTree(raw).value;
    return true;
  });
  return value;
}

function readDuration(reader: Reader, told?: unknown): unknown {
  let nanoseconds = typeof told === 'string' ? parseDuration(told) : 0n;
  eachField(reader, (proto) => {
    if (proto !== 1) return false;
    nanoseconds = BigInt(reader.int64());
    return true;
  });
  return formatDuration(nanoseconds);
}

function readSchema(reader: Reader, told?: unknown): unknown {
  const outer = reader.enter();
  const type = mustType('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
  const schema = messageReader(type)(reader, told);
  reader.leave(outer);
  return schema;
}

/** A schema in field `schema`, or the items of the other field. */
function readSchemaOrList(reader: Reader, readItem: Read, told: unknown): unknown {
  const items: unknown[] = Array.isArray(told) ? told : [];
  let schema: unknown = isPlainObject(told) ? told : null;
  eachField(reader, (proto) => {
    if (proto === 1) schema = readSchema(reader, schema);
    else if (proto === 2) items.push(readItem(reader));
    else return false;
    return true;
  });
  return items.length > 0 ? items : schema;
}

function readSchemaOrBool(reader: Reader, told: unknown): unknown {
  let allows = told === true;
  let schema: unknown = told;
  eachField(reader, (proto) => {
    if (proto === 1) allows = reader.bool();
    else if (proto === 2) schema = readSchema(reader, schema);
    else return false;
    return true;
  });
  return isPlainObject(schema) ? schema : allows;
}

const scalarReaders: Readonly<Record<ScalarName, Read>> = {
  string: (reader) => reader.string(),
  bool: (reader) => reader.bool(),
  int32: (reader) => reader.int32(),
  int64: (reader) => reader.int64(),
  double: (reader) => reader.double(),
  bytes: (reader) => reader.base64(),
  quantity: readQuantity,
  time: readTime,
  microTime: readMicroTime,
  duration: readDuration,
  intOrString: readIntOrString,
  any: readJson,
  rawExtension: readJson,
  fieldsV1: readJson,
  schemaOrArray: (reader, told) => readSchemaOrList(reader, (inner) => readSchema(inner), told),
  schemaOrBool: readSchemaOrBool,
  schemaOrStringArray: (reader, told) => readSchemaOrList(reader, (inner) => inner.string(), told),
};
