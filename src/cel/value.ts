// How the values of expressions are represented.
//
//   bool       boolean                      null      null
//   int        bigint                       list      CelList
//   uint       Uint                         map       CelMap
//   double     number                       type      CelType
//   string     string                       optional  Optional
//   bytes      Uint8Array                   others    OpaqueValue: what libraries add (quantities, addresses, …)
//   timestamp  Timestamp                    duration  Duration
//
// An error is a value too: it travels up through strict functions and may be absorbed by `&&`, `||` and comprehensions.
// JSON is never copied: `fromJson` (json-value.ts) wraps lists and objects, and reads numbers when they are reached.
import * as types from './type.js';
import type { CelType } from './type.js';

export type Value =
  | boolean
  | bigint
  | number
  | string
  | null
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | CelList
  | CelMap
  | CelType
  | Optional
  | OpaqueValue
  | CelError;

/** An evaluation that failed; functions return it, they do not throw. */
export class CelError {
  constructor(
    /** kube-apiserver's text. */
    readonly message: string,
    /** Set when the evaluation as a whole was stopped: nothing absorbs such an error. */
    readonly cancelled?: 'cost-limit' | 'interrupted',
  ) {}
}

export class Uint {
  constructor(readonly value: bigint) {}
}

/** A point in time, from year 1 to 9999, to the nanosecond. */
export class Timestamp {
  constructor(
    /** Since 1970, whole. */
    readonly seconds: number,
    /** 0 to 999 999 999. */
    readonly nanos: number,
    /** The UTC offset in which it is formatted, as it was written; nothing else depends on it. */
    readonly offsetSeconds = 0,
  ) {}
}

export class Duration {
  constructor(readonly nanos: bigint) {}
}

/** A list. Subclasses decide where the elements lie; `equal` and `add` may be overridden (sets, lists with keys). */
export abstract class CelList {
  abstract get size(): number;
  /** The element at a place that exists. */
  abstract at(index: number): Value;

  /** Overridden where order does not matter. Undefined leaves the comparison to the engine. */
  equal(_other: Value): Value | undefined {
    return undefined;
  }
  /** `this + other`, overridden where it merges. */
  add(other: CelList): Value {
    return new ConcatList(this, other);
  }
  *[Symbol.iterator](): IterableIterator<Value> {
    for (let i = 0; i < this.size; i++) yield this.at(i);
  }
}

/** A list whose elements are values already. */
export class ArrayList extends CelList {
  constructor(readonly elements: readonly Value[]) {
    super();
  }
  get size(): number {
    return this.elements.length;
  }
  at(index: number): Value {
    return this.elements[index] ?? null;
  }
}

/** A list that a function on strings made. kube-apiserver distinguishes such lists from others in a few places. */
export class StringList extends ArrayList {}

/** Two lists, one after the other; joining costs nothing, as the cost of `+` on lists promises. */
export class ConcatList extends CelList {
  readonly size: number;
  constructor(
    private readonly head: CelList,
    private readonly tail: CelList,
  ) {
    super();
    this.size = head.size + tail.size;
  }
  at(index: number): Value {
    return index < this.head.size ? this.head.at(index) : this.tail.at(index - this.head.size);
  }
}

/** A map. Subclasses decide where the entries lie. Objects of declared types are maps at run time as well. */
export abstract class CelMap {
  abstract get size(): number;
  /** The value under a key; undefined when there is none; an error when the key cannot be one of this map's. */
  abstract find(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;

  /** Overridden where some members do not count. Undefined leaves the comparison to the engine. */
  equal(_other: Value): Value | undefined {
    return undefined;
  }
}

type KeyIdentity = string | boolean | bigint;

/** A map with values as entries, in the order they were set. Keys are bool, int, uint or string. */
export class EntryMap extends CelMap {
  private readonly entries = new Map<KeyIdentity, readonly [Value, Value]>();

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    super();
    for (const [key, value] of entries) this.set(key, value);
  }
  get size(): number {
    return this.entries.size;
  }
  /** Only while the map is being made. */
  set(key: Value, value: Value): void {
    const identity = keyIdentity(key);
    if (identity !== undefined) this.entries.set(identity, [key, value]);
  }
  /** Only while the map is being made. */
  delete(key: Value): void {
    const identity = keyIdentity(key);
    if (identity !== undefined) this.entries.delete(identity);
  }
  find(key: Value): Value | undefined {
    for (const identity of lookupIdentities(key)) {
      const entry = this.entries.get(identity);
      if (entry !== undefined) return entry[1];
    }
    return undefined;
  }
  *keys(): IterableIterator<Value> {
    for (const [key] of this.entries.values()) yield key;
  }
}

const UINT_KEYS = 2n ** 64n;

/** Undefined for values that cannot be keys. Uints lie beyond the ints, so that `1` and `1u` are two entries. */
export function keyIdentity(key: Value): KeyIdentity | undefined {
  if (typeof key === 'string' || typeof key === 'boolean' || typeof key === 'bigint') return key;
  if (key instanceof Uint) return key.value + UINT_KEYS;
  return undefined;
}

/** Where a key may be found: numbers of one kind find equal numbers of the others. */
function lookupIdentities(key: Value): readonly KeyIdentity[] {
  if (typeof key === 'string' || typeof key === 'boolean') return [key];
  if (typeof key === 'bigint') return key >= 0n ? [key, key + UINT_KEYS] : [key];
  if (key instanceof Uint) return [key.value + UINT_KEYS, key.value];
  if (typeof key === 'number' && Number.isInteger(key)) return lookupIdentities(BigInt(key));
  return [];
}

export class Optional {
  private constructor(readonly value: Value | undefined) {}
  static readonly none = new Optional(undefined);
  static of(value: Value): Optional {
    return new Optional(value);
  }
}

/** A value of a type that a library or an environment adds. */
export abstract class OpaqueValue {
  abstract readonly type: CelType;
  /** Same type and same content; an error when that cannot be said. */
  abstract equal(other: Value): Value;
  /** Fields, for values of declared object types that are made by expressions (`Object{…}`). */
  find?(field: string): Value | undefined;
  /** What `size()` in cost terms is; 1 when absent. */
  readonly costSize?: number;
  /** For `optional.ofNonZeroValue`; never zero when absent. */
  isZero?(): boolean;
  /** What kube-apiserver makes of it when it unwraps an optional and wraps it again; itself when absent. */
  readAgain?(): Value;
}

/** `go` is kube-apiserver's value with the name of its type before it. */
export const unsupportedConversion = (go: string): CelError => new CelError(`unsupported conversion to ref.Val: ${go}`);

/** The type of a value at run time; containers do not know the types of their elements. */
export function typeOf(value: Value): CelType {
  switch (typeof value) {
    case 'boolean':
      return types.BOOL;
    case 'bigint':
      return types.INT;
    case 'number':
      return types.DOUBLE;
    case 'string':
      return types.STRING;
    default:
  }
  if (value === null) return types.NULL;
  if (value instanceof CelMap) return types.MAP;
  if (value instanceof CelList) return types.LIST;
  if (value instanceof Uint) return types.UINT;
  if (value instanceof Timestamp) return types.TIMESTAMP;
  if (value instanceof Duration) return types.DURATION;
  if (value instanceof Uint8Array) return types.BYTES;
  if (value instanceof Optional) return types.OPTIONAL;
  if (value instanceof types.CelType) return types.TYPE;
  if (value instanceof CelError) return types.ERROR;
  return value.type;
}

/** The message for a function called with values it does not accept. */
export const noSuchOverload = (): CelError => new CelError('no such overload');
