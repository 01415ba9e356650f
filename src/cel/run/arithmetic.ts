// Arithmetic with the limits of 64 bits.
import { CelError, Duration, Timestamp, Uint } from '../value.js';
import type { Value } from '../value.js';

const MAX_INT = 2n ** 63n - 1n;
const MIN_INT = -(2n ** 63n);
const MAX_UINT = 2n ** 64n - 1n;
/** The years 1 to 9999. */
export const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;
const SECOND = 1_000_000_000n;

const INT_OVERFLOW = new CelError('integer overflow');
const UINT_OVERFLOW = new CelError('unsigned integer overflow');
export const TIMESTAMP_OVERFLOW = new CelError('timestamp overflow');
const DIVISION = new CelError('division by zero');
const MODULUS = new CelError('modulus by zero');

export const int = (value: bigint): Value => (value > MAX_INT || value < MIN_INT ? INT_OVERFLOW : value);

export const uint = (value: bigint): Value => (value > MAX_UINT || value < 0n ? UINT_OVERFLOW : new Uint(value));

export const duration = (nanos: bigint): Value =>
  nanos > MAX_INT || nanos < MIN_INT ? INT_OVERFLOW : new Duration(nanos);

export const divideInts = (a: bigint, b: bigint): Value => (b === 0n ? DIVISION : int(a / b));

export function moduloInts(a: bigint, b: bigint): Value {
  if (b === 0n) return MODULUS;
  return b === -1n && a === MIN_INT ? INT_OVERFLOW : a % b;
}

export const divideUints = (a: Uint, b: Uint): Value => (b.value === 0n ? DIVISION : new Uint(a.value / b.value));

export const moduloUints = (a: Uint, b: Uint): Value => (b.value === 0n ? MODULUS : new Uint(a.value % b.value));

export function addDuration(time: Timestamp, { nanos }: Duration, sign: 1n | -1n): Value {
  const sum = BigInt(time.seconds) * SECOND + BigInt(time.nanos) + sign * nanos;
  return timestampFromNanos(sum, time.offsetSeconds);
}

function timestampFromNanos(total: bigint, offsetSeconds: number): Value {
  let seconds = total / SECOND;
  let nanos = total % SECOND;
  if (nanos < 0n) {
    nanos += SECOND;
    seconds -= 1n;
  }
  return timestamp(Number(seconds), Number(nanos), offsetSeconds);
}

export const timestamp = (seconds: number, nanos: number, offsetSeconds = 0): Value =>
  seconds < FIRST_SECOND || seconds > LAST_SECOND ? TIMESTAMP_OVERFLOW : new Timestamp(seconds, nanos, offsetSeconds);

export const subtractTimes = (a: Timestamp, b: Timestamp): Value =>
  duration(BigInt(a.seconds - b.seconds) * SECOND + BigInt(a.nanos - b.nanos));

/** A double as an integer, cut towards zero. */
export function doubleToInt(value: number): Value {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) return INT_OVERFLOW;
  return BigInt(Math.trunc(value));
}

export function doubleToUint(value: number): Value {
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64) return UINT_OVERFLOW;
  return new Uint(BigInt(Math.trunc(value)));
}
