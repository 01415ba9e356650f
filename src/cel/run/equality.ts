// Equality and order of values. Numbers of different kinds are compared by what they stand for; other values of
// different kinds are not equal, and have no order.
import { CelType } from '../type.js';
import {
  CelError,
  CelList,
  CelMap,
  Duration,
  noSuchOverload,
  OpaqueValue,
  Optional,
  Timestamp,
  Uint,
} from '../value.js';
import type { Value } from '../value.js';

/** Called for each element that is compared: throws when the evaluation is interrupted. */
export interface Rounds {
  round(): void;
}

/** `a == b`: true, false, or the error that kept it from being said. */
export function equalValues(a: Value, b: Value, rounds?: Rounds): Value {
  switch (typeof a) {
    case 'string':
    case 'boolean':
      return a === b;
    case 'bigint':
      if (typeof b === 'bigint') return a === b;
      return isNumber(b) && compareNumbers(a, b) === 0;
    case 'number':
      return isNumber(b) && compareNumbers(a, b) === 0;
    default:
  }
  if (a === null || b === null) return a === b;
  if (a instanceof Uint) return isNumber(b) && compareNumbers(a, b) === 0;
  if (a instanceof CelList) return a.equal(b) ?? (b instanceof CelList ? equalLists(a, b, rounds) : false);
  if (a instanceof CelMap) return a.equal(b) ?? (b instanceof CelMap ? equalMaps(a, b, rounds) : false);
  if (a instanceof Timestamp) return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof CelType) return b instanceof CelType && a.name === b.name;
  if (a instanceof Optional) return b instanceof Optional ? equalOptionals(a, b) : false;
  if (a instanceof OpaqueValue) return a.equal(b);
  return a;
}

function equalLists(a: CelList, b: CelList, rounds: Rounds | undefined): Value {
  if (a.size !== b.size) return false;
  for (let i = 0; i < a.size; i++) {
    rounds?.round();
    if (equalValues(a.at(i), b.at(i), rounds) === false) return false;
  }
  return true;
}

function equalMaps(a: CelMap, b: CelMap, rounds: Rounds | undefined): Value {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) {
    rounds?.round();
    const theirs = b.find(key);
    if (theirs === undefined || equalValues(a.find(key) ?? null, theirs, rounds) === false) return false;
  }
  return true;
}

function equalOptionals(a: Optional, b: Optional): Value {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equalValues(a.value, b.value);
}

export type CelNumber = bigint | number | Uint;

const isNumber = (value: Value): value is CelNumber =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;

/** Negative, zero or positive; NaN when one of them is not a number. */
function compareNumbers(a: CelNumber, b: CelNumber): number {
  const left = a instanceof Uint ? a.value : a;
  const right = b instanceof Uint ? b.value : b;
  if (typeof left === 'bigint' && typeof right === 'bigint') return left < right ? -1 : left > right ? 1 : 0;
  // An integer beside a double is rounded to a double first, as kube-apiserver does within the range of 64 bits.
  const x = Number(left);
  const y = Number(right);
  if (typeof left !== typeof right && x === y) return edge(left, right);
  return x < y ? -1 : x > y ? 1 : x === y ? 0 : NaN;
}

/** 2^63 and 2^64 as doubles lie just beyond the largest integers, which round up to them. */
function edge(left: bigint | number, right: bigint | number): number {
  const int = typeof left === 'bigint' ? left : right;
  const double = typeof left === 'bigint' ? right : left;
  if (typeof int === 'bigint' && int >= 2n ** 64n - 1024n && double === 2 ** 64) return left === int ? -1 : 1;
  return 0;
}

/** The order of two values of comparable kinds, as -1, 0 or 1. */
export function compareValues(a: Value, b: Value): number | CelError {
  if (isNumber(a) && isNumber(b)) {
    const order = compareNumbers(a, b);
    return Number.isNaN(order) ? new CelError('NaN values cannot be ordered') : order;
  }
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Timestamp && b instanceof Timestamp) {
    return Math.sign(a.seconds - b.seconds || a.nanos - b.nanos);
  }
  if (a instanceof Duration && b instanceof Duration) return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  return noSuchOverload();
}

/** By code points, as bytes of UTF-8 compare; JavaScript compares UTF-16 units, which differ where surrogates are. */
function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const surrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xe000;
    if (surrogate(x) !== surrogate(y)) return surrogate(x) ? 1 : -1;
    return x < y ? -1 : 1;
  }
  return a.length < b.length ? -1 : 1;
}
