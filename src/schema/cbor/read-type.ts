// An item as the tree of its type: what kube-apiserver's decoder accepts for each, which for some is less than
// of JSON (no quantity is a number, no bytes are text). The form of the document has been checked.
import { MAX_INT64 } from '../../lib/values/int64.js';
import { mustType } from '../catalogue.js';
import { goType } from '../json/explain.js';
import { canonicalBase64, plain } from '../json/scalar.js';
import { DecodeError } from '../json/walk.js';
import { zeroValue } from '../normal-form.js';
import type { Field, ScalarName, ScalarType, StructType, Type } from '../type.js';
import {
  ARRAY,
  BYTES,
  type Cursor,
  FALSE,
  floatOf,
  MAP,
  NEGATIVE,
  NULL,
  SORTS,
  TAG,
  TEXT,
  TRUE,
  UNSIGNED,
} from './cursor.js';
import { duplicateKey, Fault, refused, unknownField, wrongSort } from './fault.js';
import {
  checkTags,
  misfit,
  negative,
  readList,
  readMap,
  readText,
  readTree,
  tagOf,
  type WrittenAs,
} from './read-tree.js';

export class TypeReader {
  /** Of members that are kept as they are: kube-apiserver reads them after all others. */
  rawFault: Fault | undefined;

  constructor(
    readonly cursor: Cursor,
    readonly strict: boolean,
  ) {}

  /** `before` is what null leaves as it is. */
  value(type: Type, writtenAs?: WrittenAs, before: unknown = zeroOf(type)): unknown {
    const { cursor } = this;
    const fault = checkTags(cursor);
    if (fault !== undefined) return fault;
    if (type.kind === 'scalar' && !PLAIN.has(type.scalar)) return this.#own(type);
    if (cursor.first === NULL) {
      cursor.skip();
      return type.kind === 'list' || type.kind === 'map' ? null : before;
    }
    if (cursor.major === TAG) return this.value(type, tagOf(cursor) ?? writtenAs, before);
    switch (type.kind) {
      case 'struct':
        return this.struct(type, this.strict, writtenAs);
      case 'list':
        return cursor.major === ARRAY ? this.#list(type.element, writtenAs) : misfit(cursor, goType(type));
      case 'map':
        if (cursor.major !== MAP) return misfit(cursor, goType(type));
        return readMap(cursor, (_, last) => this.value(type.value, writtenAs, isPlain(type.value) ? last : undefined));
      case 'scalar':
        return this.#scalar(type, writtenAs);
    }
  }

  struct(type: StructType, strict: boolean, writtenAs?: WrittenAs): unknown {
    const { cursor } = this;
    const name = goType(type);
    if (cursor.major === ARRAY)
      return misfit(cursor, name, 'cannot decode CBOR array to struct without toarray option');
    if (cursor.major !== MAP) return misfit(cursor, name);
    const object: Record<string, unknown> = {};
    const strangers = new Set<unknown>();
    let fault: Fault | undefined;
    // After this one nothing of the map is looked at.
    let last: Fault | undefined;
    cursor.each((index) => {
      if (last !== undefined) {
        cursor.skip();
        cursor.skip();
        return;
      }
      const { key, misfit: wrongKey } = this.#key();
      fault ??= wrongKey;
      const field = typeof key === 'string' ? type.byJson.get(key) : undefined;
      if (field === undefined) {
        cursor.skip();
        if (key === undefined) return;
        if (strict) last = unknownField(index);
        else if (strangers.has(key)) last = duplicateKey(key, index);
        strangers.add(key);
      } else if (Object.hasOwn(object, field.json)) {
        cursor.skip();
        last = duplicateKey(field.json, index);
      } else {
        const value = this.#member(field, writtenAs);
        if (value instanceof Fault) fault ??= value.inField(name, field.json);
        object[field.json] = value;
      }
    });
    return last ?? fault ?? object;
  }

  /** No key where the pair is passed over. */
  #key(): { readonly key?: unknown; readonly misfit?: Fault } {
    const { cursor } = this;
    const { major } = cursor;
    if (major === TEXT || major === BYTES) {
      const key = readText(cursor, '');
      return key instanceof Fault ? { misfit: key } : { key };
    }
    if (major === UNSIGNED || major === NEGATIVE) {
      const { argument } = cursor.head();
      if (major === UNSIGNED) return { key: BigInt.asIntN(64, BigInt(argument)) };
      if (argument <= MAX_INT64) return { key: BigInt(negative(argument)) };
      return { misfit: wrongSort(major, 'int64', `-1-${argument} overflows Go's int64`) };
    }
    const why = `map key is of type ${SORTS[major] ?? ''} and cannot be used to match struct field name`;
    const wrongKey = wrongSort(major, 'string', why);
    const key = plain(readTree(cursor));
    return key instanceof Fault || (typeof key === 'object' && key !== null)
      ? { misfit: wrongKey }
      : { key, misfit: wrongKey };
  }

  #member({ type, pointer }: Field, writtenAs: WrittenAs): unknown {
    if (!pointer || !this.cursor.isNull) return this.value(type, writtenAs);
    this.cursor.skip();
    return null;
  }

  #list(element: Type, writtenAs: WrittenAs): unknown {
    return readList(this.cursor, () => this.value(element, writtenAs));
  }

  #scalar(type: ScalarType, writtenAs: WrittenAs): unknown {
    const { cursor } = this;
    switch (type.scalar) {
      case 'string':
        return readText(cursor, '', goType(type), writtenAs);
      case 'bool':
        if (cursor.first !== TRUE && cursor.first !== FALSE) return misfit(cursor, goType(type));
        cursor.pos++;
        return cursor.buffer[cursor.pos - 1] === TRUE;
      case 'bytes':
        return this.#bytes(writtenAs);
      case 'double':
        return this.#double();
      default:
        return this.#integer(goType(type));
    }
  }

  #integer(into: string): unknown {
    const { cursor } = this;
    const { major } = cursor;
    if (major !== UNSIGNED && major !== NEGATIVE) return misfit(cursor, into);
    const { argument } = cursor.head();
    const value = major === UNSIGNED ? argument : negative(argument);
    const [least, most] = INTEGERS[into] ?? [0n, 0n];
    if (value >= least && value <= most) return value;
    const range = major === NEGATIVE && argument > MAX_INT64 ? "Go's int64" : into;
    return wrongSort(major, into, `${value} overflows ${range}`);
  }

  #double(): unknown {
    const { cursor } = this;
    const isFloat = cursor.first >= 0xf9 && cursor.first <= 0xfb;
    if (cursor.major > NEGATIVE && !isFloat) return misfit(cursor, 'float64');
    if (cursor.major === NEGATIVE) {
      const value = this.#integer('int64');
      return value instanceof Fault ? value : Number(value);
    }
    const { info, argument } = cursor.head();
    return isFloat ? floatOf(info, argument) : Number(argument);
  }

  /** As base64: bytes are expected to be in it already, unless a tag says that they are to be. */
  #bytes(writtenAs: WrittenAs): unknown {
    const { cursor } = this;
    if (cursor.major === ARRAY) {
      const items = readList(cursor, () => (cursor.first === NULL ? (this.#skipped() ?? 0) : this.#integer('uint8')));
      return items instanceof Fault ? items : Buffer.from(items as number[]).toString('base64');
    }
    if (cursor.major !== BYTES) return misfit(cursor, '[]uint8');
    const bytes = Buffer.concat(cursor.chunks());
    if (writtenAs !== undefined) return bytes.toString('base64');
    try {
      return canonicalBase64(bytes.toString('latin1'));
    } catch (error) {
      if (error instanceof DecodeError) return refused(`failed to decode base64 from byte string: ${error.message}`);
      throw error;
    }
  }

  /** Types that read themselves. */
  #own({ scalar }: ScalarType): unknown {
    const { cursor } = this;
    switch (scalar) {
      case 'quantity':
      case 'time':
      case 'microTime':
        return cursor.isNull ? this.#skipped() : readText(cursor, '');
      case 'intOrString':
        return this.#intOrString();
      case 'duration': {
        const value = readTree(cursor);
        return value instanceof Fault ? refused(`cannot transcode from cbor to json: ${value.text}`) : value;
      }
      case 'rawExtension':
        return this.#raw(readTree(cursor), RAW_EXTENSION);
      case 'fieldsV1':
        return isFieldSet(cursor.first) ? this.#raw(readObject(cursor), FIELDS_V1) : this.#skipped();
      case 'schemaOrBool':
        if (cursor.first === TRUE || cursor.first === FALSE) return readTree(cursor);
        if (cursor.major === MAP) return this.#schema();
        cursor.skip();
        return new Fault('boolean or JSON schema expected');
      case 'schemaOrArray':
        return cursor.major === ARRAY ? this.#schemas() : this.#schemaOrNothing();
      case 'schemaOrStringArray':
        return cursor.major === ARRAY ? this.#list(STRING, undefined) : this.#schemaOrNothing();
      default:
        return readTree(cursor);
    }
  }

  #skipped(): null {
    this.cursor.skip();
    return null;
  }

  #intOrString(): unknown {
    const { cursor } = this;
    const start = cursor.pos;
    const text = readText(cursor, '');
    if (!(text instanceof Fault)) return text;
    cursor.pos = start;
    return this.value(INT32);
  }

  #raw(value: unknown, what: string): unknown {
    if (!(value instanceof Fault)) return value;
    this.rawFault ??= new Fault(`failed to transcode ${what}: ${value.text}`);
    return null;
  }

  #schemaOrNothing(): unknown {
    return this.cursor.major === MAP ? this.#schema() : this.#skipped();
  }

  /** Schemas inside of others are decoded strictly, whatever `strict` says. */
  #schema(): unknown {
    return this.struct(SCHEMA(), true);
  }

  #schemas(): unknown {
    return new TypeReader(this.cursor, true).#list(SCHEMA(), undefined);
  }
}

/** Whether an item that begins so may be a set of fields: a map, or one with a tag that has no meaning of its own. */
const isFieldSet = (first: number): boolean => first >> 5 === MAP || (first >= 0xc6 && first <= 0xdb);

/** Of any item that is to be an object, or nothing. */
export function readObject(cursor: Cursor): unknown {
  const fault = checkTags(cursor);
  if (fault !== undefined) return fault;
  if (cursor.major === TAG) {
    cursor.head();
    return readObject(cursor);
  }
  if (cursor.major === MAP || cursor.first === NULL) return readTree(cursor);
  return misfit(cursor, 'map[string]interface {}');
}

const RAW_EXTENSION = 'RawExtension to JSON: failed to parse RawExtension bytes as CBOR';
const FIELDS_V1 = 'FieldsV1 to JSON: metav1.FieldsV1 cbor invalid';

const PLAIN: ReadonlySet<ScalarName> = new Set(['string', 'bool', 'int32', 'int64', 'double', 'bytes']);

/** In kube-apiserver's maps null leaves such a value as the one before it was. */
const isPlain = (type: Type): boolean => type.kind === 'scalar' && type.scalar !== 'bytes' && PLAIN.has(type.scalar);

const zeroOf = (type: Type): unknown => (type.kind === 'struct' ? {} : zeroValue(type));

const INTEGERS: Readonly<Record<string, readonly [least: bigint, most: bigint]>> = {
  uint8: [0n, 255n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), MAX_INT64],
};

const INT32: ScalarType = { kind: 'scalar', scalar: 'int32' };
const STRING: ScalarType = { kind: 'scalar', scalar: 'string' };

const SCHEMA = (): StructType => mustType('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
