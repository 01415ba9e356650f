// JSON as expressions see it through a structural schema. Nothing is copied: members are read when they are reached.
//
// Lists may be sets or have keys, and then order does not matter to `==`, and `+` merges. Members that the schema does
// not know cannot be reached, but count when objects are compared.
import { base64Fault } from '../../lib/text/base64-fault.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { goTypeName } from '../../lib/go/value.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { TimeError, parseTime } from '../../machinery/time.js';
import { parseLooseDuration } from '../../machinery/validation/loose-duration.js';
import { equalValues } from '../run/equality.js';
import { opaqueType } from '../type.js';
import { CelError, CelList, CelMap, Duration, OpaqueValue, Timestamp, type Value, noSuchOverload } from '../value.js';
import { escapeFieldName, unescapeFieldName } from './field-names.js';
import { KeyedList, SetList } from './merging-lists.js';
import { type RuleSchema, additionalSchema, itemsSchema, propertiesOf, withObjectMeta } from './rule-schema.js';

export function schemaValue(json: unknown, schema: RuleSchema): Value {
  if (json === null || json === undefined) {
    return schema.nullable ? null : new CelError('invalid data, got null for schema with nullable=false');
  }
  if (schema['x-kubernetes-int-or-string']) {
    if (typeof json === 'string') return json;
    return integer(json) ?? new CelError('invalid data, expected XIntOrString value to be either a string or integer');
  }
  switch (schema.type) {
    case 'object':
      return objectValue(json, schema);
    case 'array':
      return listValue(json, schema);
    case 'string':
      return typeof json === 'string' ? textValue(json, schema.format) : unexpected('string', json);
    case 'number':
      return typeof json === 'number' || typeof json === 'bigint' ? Number(json) : unexpected('float', json);
    case 'integer':
      return integer(json) ?? unexpected('int', json);
    case 'boolean':
      return typeof json === 'boolean' ? json : unexpected('bool', json);
    default:
      if (schema['x-kubernetes-preserve-unknown-fields']) return new PreservedValue(json);
      return new CelError(
        `invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ${schema.type ?? ''}`,
      );
  }
}

const unexpected = (wanted: string, json: unknown): CelError =>
  new CelError(`invalid data, expected ${wanted}, got ${goTypeName(json)}`);

function integer(json: unknown): bigint | undefined {
  if (typeof json === 'bigint') return json;
  return Number.isInteger(json) ? BigInt(json as number) : undefined;
}

function objectValue(json: unknown, schema: RuleSchema): Value {
  if (!isPlainObject(json))
    return new CelError('invalid data, expected a map for the provided schema with type=object');
  return new SchemaMap(json, schema['x-kubernetes-embedded-resource'] ? withObjectMeta(schema) : schema);
}

function listValue(json: unknown, schema: RuleSchema): Value {
  if (!Array.isArray(json))
    return new CelError('invalid data, expected an array for the provided schema with type=array');
  const items = itemsSchema(schema);
  if (items === undefined) return new CelError('invalid array type, expected Items with a non-empty Schema');
  const list = new SchemaList(json, items);
  switch (schema['x-kubernetes-list-type']) {
    case 'map':
      return new KeyedList(
        list,
        (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => escapeFieldName(key) ?? key),
      );
    case 'set':
      return new SetList(list);
    default:
      return list;
  }
}

function textValue(text: string, format: string | undefined): Value {
  switch (format) {
    case 'duration': {
      const nanos = parseLooseDuration(text);
      if (nanos !== undefined) return new Duration(nanos);
      return new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`);
    }
    case 'date':
      return timeValue(text, `${text}T00:00:00Z`, 'date');
    case 'date-time':
      return timeValue(text, /^[^Zz+]*T\d\d:\d\d:\d\d$/.test(text) ? `${text}Z` : text, 'date-time');
    case 'byte':
      return bytesValue(text);
    default:
      return text;
  }
}

function timeValue(text: string, full: string, format: string): Value {
  if (text === '' && format === 'date-time') return new Timestamp(0, 0);
  try {
    const { seconds, nanos, offsetSeconds } = parseTime(full);
    return new Timestamp(seconds, nanos, offsetSeconds);
  } catch (error) {
    if (error instanceof TimeError) return new CelError(`Invalid ${format} formatted string ${text}: ${error.message}`);
    throw error;
  }
}

/** Bytes are read in the alphabet of URLs, as kube-apiserver does. */
function bytesValue(text: string): Value {
  const fault = base64Fault(text, { url: true, padded: true });
  if (fault !== undefined) {
    return new CelError(`Invalid byte formatted string ${text}: illegal base64 data at input byte ${fault}`);
  }
  return new Uint8Array(Buffer.from(text, 'base64url'));
}

class SchemaList extends CelList {
  constructor(
    private readonly elements: readonly unknown[],
    private readonly items: RuleSchema,
  ) {
    super();
  }
  get size(): number {
    return this.elements.length;
  }
  at(index: number): Value {
    return schemaValue(this.elements[index], this.items);
  }
}

/** An object with named members, or a map with members of one schema. */
class SchemaMap extends CelMap {
  private readonly properties: Readonly<Record<string, RuleSchema>> | undefined;
  private readonly additional: RuleSchema | undefined;

  constructor(
    readonly json: Readonly<Record<string, unknown>>,
    schema: RuleSchema,
  ) {
    super();
    this.properties = propertiesOf(schema);
    this.additional = this.properties === undefined ? additionalSchema(schema) : undefined;
  }

  get size(): number {
    return Object.keys(this.json).length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return noSuchOverload();
    const name = this.properties === undefined ? key : unescapeFieldName(key);
    if (name === undefined || !Object.hasOwn(this.json, name)) return undefined;
    const member = this.json[name];
    // A member that may be null is absent while it is.
    if (this.properties !== undefined && member === null) return undefined;
    const schema = this.schemaOf(name);
    return schema === undefined ? undefined : schemaValue(member, schema);
  }

  *keys(): IterableIterator<Value> {
    for (const name of Object.keys(this.json)) {
      if (this.schemaOf(name) === undefined) continue;
      yield this.properties === undefined ? name : (escapeFieldName(name) ?? name);
    }
  }

  override equal(other: Value): Value | undefined {
    if (!(other instanceof CelMap)) return undefined;
    if (this.size !== other.size) return false;
    for (const [name, member] of Object.entries(this.json)) {
      const same = this.schemaOf(name) === undefined ? sameUnknown(name, member, other) : this.sameMember(name, other);
      if (same !== true) return same;
    }
    return true;
  }

  private sameMember(name: string, other: CelMap): Value {
    const key = this.properties === undefined ? name : (escapeFieldName(name) ?? name);
    const mine = this.find(key);
    const theirs = other.find(key);
    if (mine === undefined || theirs === undefined) return mine === theirs;
    return equalValues(mine, theirs);
  }

  private schemaOf(name: string): RuleSchema | undefined {
    if (this.properties === undefined) return this.additional;
    return Object.hasOwn(this.properties, name) ? this.properties[name] : undefined;
  }
}

/** A member without a schema differs only from another value under the same name. */
function sameUnknown(name: string, member: unknown, other: CelMap): Value {
  if (!(other instanceof SchemaMap)) return noSuchOverload();
  return !Object.hasOwn(other.json, name) || deepEqual(member, other.json[name]);
}

const UNKNOWN = opaqueType('unknown');

/** Data without a schema: it can be compared, and nothing else. */
class PreservedValue extends OpaqueValue {
  readonly type = UNKNOWN;
  constructor(readonly json: unknown) {
    super();
  }
  equal(other: Value): Value {
    return other instanceof PreservedValue && deepEqual(this.json, other.json);
  }
}
