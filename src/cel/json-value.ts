// JSON as values, without copying: lists and objects are wrapped, and what lies inside is read when it is reached.
import { cachedKeys } from '../lib/values/key-cache.js';
import { doubleToInt } from './run/arithmetic.js';
import { parseDuration, parseTimestamp } from './run/time.js';
import type { CelType } from './type.js';
import { DYN, parameter } from './type.js';
import { CelError, CelList, CelMap, Uint } from './value.js';
import type { Value } from './value.js';
import type { ObjectTypes } from './environment.js';

/**
 * The value of JSON at a place of a declared type. Without a type, whole numbers are ints and others doubles, as
 * kube-apiserver reads objects whose schema it does not know.
 */
export function fromJson(json: unknown, type: CelType = DYN, objectTypes?: ObjectTypes): Value {
  if (type.decode !== undefined) return type.decode(json) as Value;
  switch (typeof json) {
    case 'string':
      return fromText(json, type);
    case 'boolean':
      return json;
    case 'number':
      return fromNumber(json, type);
    case 'bigint':
      return type.kind === 'double' ? Number(json) : type.kind === 'uint' ? new Uint(json) : json;
    default:
  }
  if (json === null || json === undefined) return null;
  if (Array.isArray(json)) return new JsonList(json, type.kind === 'list' ? parameter(type, 0) : DYN, objectTypes);
  if (typeof json !== 'object') return new CelError('invalid data');
  const bag = json as Readonly<Record<string, unknown>>;
  if (type.kind !== 'struct') return new JsonMap(bag, type.kind === 'map' ? parameter(type, 1) : DYN, objectTypes);
  const declaration = objectTypes?.find(type.name);
  return new JsonMap(bag, (field) => declaration?.field(field) ?? DYN, objectTypes);
}

function fromText(text: string, type: CelType): Value {
  switch (type.kind) {
    case 'timestamp':
      return parseTimestamp(text);
    case 'duration':
      return parseDuration(text);
    case 'bytes':
      return new Uint8Array(Buffer.from(text, 'base64'));
    default:
      return text;
  }
}

function fromNumber(number: number, type: CelType): Value {
  switch (type.kind) {
    case 'double':
      return number;
    case 'int':
      return doubleToInt(number);
    case 'uint':
      return new Uint(BigInt(Math.trunc(number)));
    default:
      return Number.isSafeInteger(number) ? BigInt(number) : number;
  }
}

export class JsonList extends CelList {
  constructor(
    readonly json: readonly unknown[],
    private readonly element: CelType = DYN,
    private readonly objectTypes?: ObjectTypes,
  ) {
    super();
  }
  get size(): number {
    return this.json.length;
  }
  at(index: number): Value {
    return fromJson(this.json[index], this.element, this.objectTypes);
  }
}

class JsonMap extends CelMap {
  private count = -1;

  constructor(
    readonly json: Readonly<Record<string, unknown>>,
    private readonly member: CelType | ((name: string) => CelType) = DYN,
    private readonly objectTypes?: ObjectTypes,
  ) {
    super();
  }
  get size(): number {
    if (this.count < 0) this.count = this.#names().length;
    return this.count;
  }
  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.json, key)) return undefined;
    const value = this.json[key];
    if (value === undefined) return undefined;
    return fromJson(value, typeof this.member === 'function' ? this.member(key) : this.member, this.objectTypes);
  }
  keys(): Iterable<Value> {
    return this.#names();
  }

  /** What policies see is not changed meanwhile: the names that a map was closed with are all there but those removed. */
  #names(): readonly string[] {
    const closed = cachedKeys(this.json);
    if (closed === undefined) return Object.keys(this.json);
    return closed.every((name) => Object.hasOwn(this.json, name)) ? closed : Object.keys(this.json);
  }
}
