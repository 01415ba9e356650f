// hot: a protobuf message into the normal form of its type. Unknown fields are ignored. A message that
// comes twice is one message: what the second leaves out stays as the first has it.
import { bufferOf } from '../../lib/values/buffer-of.js';
import { compileFunction, Scope } from '../../lib/values/compile-function.js';
import { errorText } from '../../lib/text/error-text.js';
import { isPlainObject, setMember } from '../../lib/values/plain-object.js';
import { formatDuration, formatMicroTime, formatTime, parseDuration } from '../../machinery/time.js';
import { canonicalQuantity } from '../../machinery/quantity.js';
import { mustType } from '../catalogue.js';
import { parseJsonTree } from '../json/decode.js';
import { sharedTree } from '../json/shared-tree.js';
import { DecodeError } from '../json/walk.js';
import { isAlwaysEncoded, encodedFields, unsetValue, zeroValue } from '../normal-form.js';
import { knownFields } from '../shared-fields.js';
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
type ReadStruct = (reader: Reader, earlier?: unknown) => Record<string, unknown>;
/** `earlier` is the value of an earlier occurrence of the field, if there was one. */
type Read = (reader: Reader, earlier?: unknown) => unknown;

const messageReaders = new WeakMap<StructType, ReadStruct>();
const structReaders = new WeakMap<StructType, ReadInto>();

/** Reads the whole of what the reader is narrowed to, and fills in what is always encoded. */
function messageReader(type: StructType): ReadStruct {
  let known = messageReaders.get(type);
  if (known === undefined) {
    let readInto: ReadInto | undefined;
    let encoded: readonly Field[] = [];
    known = (reader, earlier) => {
      if (readInto === undefined) {
        readInto = readerOf(type);
        encoded = encodedFields(type);
      }
      const object: Record<string, unknown> = isPlainObject(earlier) ? earlier : {};
      readInto(object, reader);
      for (const field of encoded) if (object[field.json] === undefined) object[field.json] = unsetValue(field);
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
  const unknown = scope.use('unknown', (reader: Reader, tag: number) => passUnknown(reader, tag, goName));
  const cases = type.fields
    .filter((field) => field.proto > 0 && field.embedded !== true)
    .map((field) => `case ${field.proto}: ${fieldSource(field, scope, wrong)} break;`);
  for (const { proto, type: inlined } of type.embedded ?? []) {
    const read = scope.use('read', (object: Record<string, unknown>, reader: Reader) => {
      const outer = reader.enter();
      readerOf(inlined)(object, reader);
      reader.leave(outer);
    });
    cases.push(
      `case ${proto}: ${checkSource(2, inlined.name.slice(inlined.name.lastIndexOf('.') + 1), wrong)} ${read}(o, r); break;`,
    );
  }
  const source = [
    'return function read(o, r) {',
    'while (r.pos < r.end) {',
    'const tag = r.tag(), wire = tag & 7;',
    'switch (tag >>> 3) {',
    ...cases,
    `default: ${unknown}(r, tag);`,
    '} } };',
  ].join('\n');
  return compileFunction(scope.values, source);
}

function passUnknown(reader: Reader, tag: number, message: string): void {
  refuseEndOfGroup(tag & 7, message);
  refuseNumberZero(tag >>> 3, tag, reader, message);
  reader.skip(tag & 7);
}

const checkSource = (wireType: number, name: string, wrong: string): string =>
  `if (wire !== ${wireType}) ${wrong}(wire, ${JSON.stringify(name)});`;

function fieldSource(field: Field, scope: Scope, wrong: string): string {
  const { type, json } = field;
  const member = `o[${JSON.stringify(json)}]`;
  const goName = goFieldName(field);
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
  if (isAlwaysEncoded(field)) return `${check} ${member} = ${read};`;
  // A later occurrence of what is no message replaces an earlier one, also when it is empty.
  const present = field.pointer
    ? isSchemaOrList(type)
      ? 'v !== null'
      : 'true'
    : 'v !== "" && v !== 0 && v !== false && v !== null && v.length !== 0';
  return `${check} { const v = ${read}; if (${present}) ${member} = v; else delete ${member}; }`;
}

/** One that holds neither a schema nor a list is left out. */
const isSchemaOrList = (type: Type): boolean =>
  type.kind === 'scalar' && (type.scalar === 'schemaOrArray' || type.scalar === 'schemaOrStringArray');

/** kube-apiserver's name of a field, for the error where it has another wire type. */
function goFieldName({ json, type }: Field): string {
  if (json === 'metadata' && type.kind === 'struct') return type.name.slice(type.name.lastIndexOf('.') + 1);
  if (json.startsWith('x-kubernetes-')) {
    const words = json.slice('x-kubernetes-'.length).split('-');
    return `X${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`;
  }
  if (json.startsWith('$')) return json.charAt(1).toUpperCase() + json.slice(2);
  const [initials = ''] = INITIALS.exec(json) ?? [];
  return initials === ''
    ? json.charAt(0).toUpperCase() + json.slice(1)
    : initials.toUpperCase() + json.slice(initials.length);
}

/** Words that a name begins with and that are written in capitals. */
const INITIALS =
  /^(?:api|uid|gid|id|ips?|aws|csi|dns|fc|fs|gce|gmsa|grpc|http|iscsi|iqn|nfs|os|pd|qos|rbd|ssl|tcp|tty)(?![a-z])/;

function entryReader(value: Type): (reader: Reader, map: Record<string, unknown>) => void {
  const readValue = valueReader(value);
  // The wire types of an entry's key and value are not checked, and they end where what holds the entry ends.
  return (reader, map) => {
    const end = reader.lengthDelimited();
    let key = '';
    let member: unknown;
    while (reader.pos < end) {
      const tag = reader.tag();
      if (tag >>> 3 === 1) key = reader.string();
      else if (tag >>> 3 === 2) member = readValue(reader);
      else {
        reader.skip(tag & 7);
        if (reader.pos > end) throw new DecodeError('unexpected EOF');
      }
    }
    reader.pos = end;
    setMember(map, key, member === undefined ? zeroValue(value) : member);
  };
}

/** An expression that reads a value after its tag; `earlier` is an expression for the earlier value. */
function readSource(type: Type, scope: Scope, earlier = 'undefined'): string {
  if (type.kind === 'scalar') {
    const method = scalarMethods[type.scalar];
    if (method !== undefined) return `r.${method}()`;
  }
  return `${scope.use('read', valueReader(type))}(r, ${earlier})`;
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
      return (reader, earlier) => {
        const outer = reader.enter();
        const message = read(reader, earlier);
        reader.leave(outer);
        return message;
      };
    }
    case 'list': {
      const element = valueReader(type.element);
      const name = type.name?.slice(type.name.lastIndexOf('.') + 1) ?? '';
      return (reader, earlier) => {
        const items: unknown[] = Array.isArray(earlier) ? earlier : [];
        eachField(reader, name, { 1: ['Items', 2, () => void items.push(element(reader))] });
        return items;
      };
    }
    case 'map':
      throw new Error('protobuf has no map inside a list or map');
    case 'scalar':
      return scalarReaders[type.scalar];
  }
}

type Known = Readonly<Record<number, readonly [name: string, wireType: number, read: () => void]>>;

/** Walks the fields of the message that starts here, by their numbers. */
function eachField(reader: Reader, message: string, known: Known): void {
  const outer = reader.enter();
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    const field = known[tag >>> 3];
    if (field === undefined) {
      passUnknown(reader, tag, message);
      continue;
    }
    refuseEndOfGroup(tag & 7, message);
    const [name, wireType, read] = field;
    if ((tag & 7) !== wireType) throw wrongWireType(tag & 7, name);
    read();
  }
  reader.leave(outer);
}

function readTime(reader: Reader): unknown {
  const { seconds, isZero } = readTimestamp(reader);
  return isZero ? null : formatTime(seconds);
}

function readMicroTime(reader: Reader): unknown {
  const { seconds, nanos, isZero } = readTimestamp(reader);
  return isZero ? null : formatMicroTime(seconds, nanos);
}

/** A hundred million days. */
const MAX_TIME_SECONDS = 1e8 * 86_400;

function readTimestamp(reader: Reader): { seconds: number; nanos: number; isZero: boolean } {
  let seconds = 0;
  let nanos = 0;
  const start = reader.pos;
  const isZero = reader.lengthDelimited() === reader.pos;
  reader.pos = start;
  eachField(reader, 'Timestamp', {
    1: ['Seconds', 0, () => (seconds = Number(reader.int64()))],
    2: ['Nanos', 0, () => (nanos = reader.int32())],
  });
  if (Math.abs(seconds) > MAX_TIME_SECONDS) throw new DecodeError('proto: time is out of range');
  return { seconds, nanos, isZero };
}

function readIntOrString(reader: Reader, earlier?: unknown): unknown {
  let isText = typeof earlier === 'string';
  let number = typeof earlier === 'number' ? earlier : 0;
  let text = typeof earlier === 'string' ? earlier : '';
  eachField(reader, 'IntOrString', {
    1: ['Type', 0, () => (isText = reader.int64() === 1)],
    2: ['IntVal', 0, () => (number = reader.int32())],
    3: ['StrVal', 2, () => (text = reader.string())],
  });
  return isText ? text : number;
}

function readQuantity(reader: Reader, earlier?: unknown): unknown {
  let quantity = typeof earlier === 'string' ? earlier : '0';
  const read = (): void => {
    try {
      quantity = canonicalQuantity(reader.string());
    } catch (error) {
      throw error instanceof DecodeError ? error : new DecodeError(errorText(error));
    }
  };
  eachField(reader, 'Quantity', { 1: ['String_', 2, read] });
  return quantity;
}

const jsonReader =
  (message: string, parse: (text: string) => unknown): Read =>
  (reader, earlier = null) => {
    let value = earlier;
    eachField(reader, message, {
      1: [
        'Raw',
        2,
        () => {
          const text = reader.string();
          value = text === '' ? null : parse(text);
        },
      ],
    });
    return value;
  };

const parseJson = (text: string): unknown => parseJsonTree(text).value;

/** Most field sets are known by their text. Those that cannot be decoded are dropped without an error. */
function parseFieldsV1(text: string): unknown {
  const known = knownFields(text);
  if (known !== undefined) return known;
  try {
    return sharedTree(parseJson(text));
  } catch (error) {
    if (error instanceof DecodeError) return null;
    throw error;
  }
}

function readDuration(reader: Reader, earlier?: unknown): unknown {
  let nanoseconds = typeof earlier === 'string' ? parseDuration(earlier) : 0n;
  eachField(reader, 'Duration', { 1: ['Duration', 0, () => (nanoseconds = BigInt(reader.int64()))] });
  return formatDuration(nanoseconds);
}

function readSchema(reader: Reader, earlier?: unknown): unknown {
  const outer = reader.enter();
  const type = mustType('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
  const schema = messageReader(type)(reader, earlier);
  reader.leave(outer);
  return schema;
}

/** A schema in field `schema`, or the items of the other field. */
function schemaOrListReader(message: string, items: string, readItem: Read): Read {
  return (reader, earlier) => {
    const list: unknown[] = Array.isArray(earlier) ? earlier : [];
    let schema: unknown = isPlainObject(earlier) ? earlier : null;
    eachField(reader, message, {
      1: ['Schema', 2, () => (schema = readSchema(reader, schema))],
      2: [items, 2, () => void list.push(readItem(reader))],
    });
    return list.length > 0 ? list : schema;
  };
}

function readSchemaOrBool(reader: Reader, earlier: unknown): unknown {
  let allows = earlier === true;
  let schema: unknown = earlier;
  eachField(reader, 'JSONSchemaPropsOrBool', {
    1: ['Allows', 0, () => (allows = reader.bool())],
    2: ['Schema', 2, () => (schema = readSchema(reader, schema))],
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
  any: jsonReader('JSON', parseJson),
  rawExtension: jsonReader('RawExtension', parseJson),
  fieldsV1: jsonReader('FieldsV1', parseFieldsV1),
  schemaOrArray: schemaOrListReader('JSONSchemaPropsOrArray', 'JSONSchemas', (inner) => readSchema(inner)),
  schemaOrBool: readSchemaOrBool,
  schemaOrStringArray: schemaOrListReader('JSONSchemaPropsOrStringArray', 'Property', (inner) => inner.string()),
};
