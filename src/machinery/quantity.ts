// Fixed-point numbers with a suffix, such as `500m` or `1536Mi`: parsing, the canonical form, and arithmetic.
//
// A quantity keeps the family of suffix it was written with. A text that already is canonical by kube-apiserver's
// quick test is kept as written, so that an object reads back as it was sent.
import { trimEnd } from '../lib/text/trim-end.js';
import { boundedMemo } from '../lib/values/bounded-memo.js';

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** `unscaled × 10^exponent`. */
export interface Quantity {
  readonly unscaled: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
  /** Set when the quantity is encoded as the text that it was parsed from. */
  readonly text?: string;
  /** kube-apiserver keeps it in more than 64 bits. */
  readonly isLong?: boolean;
}

export class QuantityError extends Error {}

function readQuantity(text: string): Quantity {
  if (text === '0') return zero;
  const parts = split(text);
  if (parts === undefined) throw new QuantityError(wrongFormat);
  const { negative, integer, fraction, suffix } = parts;
  const unit = interpret(suffix);
  if (unit === undefined) throw new QuantityError("unable to parse quantity's suffix");

  if (isShort(unit, integer, fraction)) {
    const digits = integer + fraction;
    const exponent = (unit.base === 10 ? unit.exponent : 0) - fraction.length;
    const value = BigInt(digits);
    const scaled = unit.base === 2 ? value << BigInt(unit.exponent) : value;
    const unscaled = negative ? -scaled : scaled;
    const keep =
      unit.format === 'BinarySI'
        ? unit.exponent % 10 === 0 && (value & 7n) !== 0n
        : exponent % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
    return keep ? { unscaled, exponent, format: unit.format, text } : { unscaled, exponent, format: unit.format };
  }
  return parseLong(unit, negative, integer, fraction);
}

const MAX_MEMOIZED = 4096;

// hot: a pod's are read to be rounded, compared and added up, and most pods have the same. Throws QuantityError.
export const parseQuantity = boundedMemo(MAX_MEMOIZED, readQuantity);

/** The canonical form of a quantity, as the API encodes it. */
export const canonicalQuantity = boundedMemo(MAX_MEMOIZED, (text: string) => formatQuantity(parseQuantity(text)));

export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text;
  if (quantity.unscaled === 0n) return '0';
  if (quantity.format === 'BinarySI') {
    const whole = wholeNumber(quantity);
    if (whole !== undefined && (whole <= -1024n || whole >= 1024n)) {
      const { value, times } = removeFactors(whole, 1024n);
      return `${value}${binarySuffixes[times] ?? ''}`;
    }
  }
  const digits = quantity.unscaled.toString();
  let mantissa = trimEnd(digits, '0');
  let exponent = quantity.exponent + digits.length - mantissa.length;
  while (exponent % 3 !== 0) {
    mantissa += '0';
    exponent--;
  }
  if (quantity.format === 'DecimalExponent') return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
  return `${mantissa}${decimalSuffixes.get(exponent) ?? ''}`;
}

export function compareQuantities(left: Quantity | string, right: Quantity | string): -1 | 0 | 1 {
  const a = quantityOf(left);
  const b = quantityOf(right);
  const signs = signOf(a.unscaled) - signOf(b.unscaled);
  if (signs !== 0) return signs < 0 ? -1 : 1;
  if (a.unscaled === 0n) return 0;
  // Far apart in size the exponents decide, so that no text makes us build a number of a billion digits.
  const magnitudes = magnitudeOf(a) - magnitudeOf(b);
  if (Math.abs(magnitudes) > 1) return magnitudes < 0 === a.unscaled > 0n ? -1 : 1;
  const [x, y] = aligned(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

/** The sum, in the format of the left one unless that is zero. */
export function addQuantities(left: Quantity | string, right: Quantity | string): Quantity {
  const a = quantityOf(left);
  const b = quantityOf(right);
  const format = a.unscaled === 0n ? b.format : a.format;
  if (a.isLong !== true && b.isLong !== true) {
    if (b.unscaled === 0n) return { unscaled: a.unscaled, exponent: a.exponent, format };
    if (a.unscaled === 0n) return { unscaled: b.unscaled, exponent: b.exponent, format };
  }
  const [x, y] = aligned(a, b);
  const sum = { unscaled: x + y, exponent: Math.min(a.exponent, b.exponent), format };
  const staysShort = a.isLong !== true && b.isLong !== true && fits(x) && fits(y) && fits(sum.unscaled);
  return staysShort ? sum : { ...sum, isLong: true };
}

/** kube-apiserver subtracts by adding the negation in 64 bits, where the smallest number has no negation. */
export function subtractQuantities(left: Quantity | string, right: Quantity | string): Quantity {
  const a = quantityOf(left);
  const { unscaled, exponent, format, isLong = false } = quantityOf(right);
  if (a.isLong === true || isLong) return addQuantities(a, { unscaled: -unscaled, exponent, format, isLong });
  const sum = addQuantities(a, { unscaled: BigInt.asIntN(64, -unscaled), exponent, format });
  return sum.isLong === true ? addQuantities(a, { unscaled: -unscaled, exponent, format, isLong: true }) : sum;
}

/** The whole number where kube-apiserver has it at hand: it looks at how a quantity is kept, not at what it is worth. */
export function integerAtHand(quantity: Quantity | string): bigint | undefined {
  const { unscaled, exponent, isLong } = quantityOf(quantity);
  if (isLong === true || exponent < 0) return undefined;
  const value = raised({ unscaled, exponent, format: 'DecimalSI' }, 0);
  return fits(value) ? value : undefined;
}

/** As kube-apiserver has it: the digits and the power of ten are rounded each on its own. */
export function approximateValue(quantity: Quantity | string): number {
  const { unscaled, exponent } = quantityOf(quantity);
  return exponent === 0 ? Number(unscaled) : Number(unscaled) * Number(`1e${exponent}`);
}

export const quantitySign = (quantity: Quantity | string): -1 | 0 | 1 => signOf(quantityOf(quantity).unscaled);

/** The value in units of 10^scale, rounded away from zero: scale 0 is the whole number, -3 the thousandths. */
export function scaledValue(quantity: Quantity | string, scale = 0): bigint {
  const { unscaled, exponent } = quantityOf(quantity);
  const shift = exponent - scale;
  if (shift >= 0) return unscaled * 10n ** BigInt(Math.min(shift, largestShift));
  return roundUp(unscaled, -shift);
}

/** scaledValue() in 64 bits, where kube-apiserver has no more: what does not fit goes round, or is nothing. */
export function int64Value(quantity: Quantity | string, scale = 0): bigint {
  const exact = scaledValue(quantity, scale);
  const { exponent, isLong } = quantityOf(quantity);
  return isLong === true || AT_ONCE.has(exponent - scale) || fits(exact) ? BigInt.asIntN(64, exact) : 0n;
}

/** The powers of ten it multiplies by without a look at each step. */
const AT_ONCE = new Set([1, 2, 3, 6, 9]);

const fits = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

/** A whole number as a quantity. */
export const quantityFrom = (value: bigint | number, format: QuantityFormat = 'DecimalSI'): Quantity => ({
  unscaled: BigInt(value),
  exponent: 0,
  format,
});

const zero: Quantity = { unscaled: 0n, exponent: 0, format: 'DecimalSI', text: '0' };
const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const shape = /^([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?)$/;
/** Longer numbers are refused: arithmetic on them would cost more than reading them. */
const MAX_DIGITS = 4096;
const decimalUnits: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const decimalSuffixes = new Map(Object.entries(decimalUnits).map(([suffix, exponent]) => [exponent, suffix]));
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const largestBinary = 2n ** 63n - 1n;
/** Exponents beyond this add nothing but digits. */
const largestShift = 4096;

interface Unit {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function split(text: string) {
  const match = text === '' ? null : shape.exec(text);
  if (match === null) return undefined;
  const [, sign = '', digits = '', fraction = '', suffix = ''] = match;
  const integer = digits.replace(/^0+/, '');
  if (integer.length + fraction.length > MAX_DIGITS) return undefined;
  return { negative: sign === '-', integer: integer === '' ? '0' : integer, fraction, suffix };
}

function interpret(suffix: string): Unit | undefined {
  const decimal = decimalUnits[suffix];
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' };
  const binary = binarySuffixes.indexOf(suffix);
  if (binary > 0) return { base: 2, exponent: binary * 10, format: 'BinarySI' };
  if (!/^[eE][-+]?[0-9]+$/.test(suffix)) return undefined;
  const exponent = Number(suffix.slice(1));
  return Math.abs(exponent) < 2 ** 31 ? { base: 10, exponent, format: 'DecimalExponent' } : undefined;
}

/** Whether the digits fit kube-apiserver's quick form, the only one that may keep its text. */
function isShort(unit: Unit, integer: string, fraction: string): boolean {
  if (unit.base === 10) return integer.length + fraction.length <= 18 && unit.exponent - fraction.length >= -9;
  if (fraction !== '' || 15 - integer.length - Math.trunc((unit.exponent * 3) / 10) - 1 < 0) return false;
  return BigInt(integer) << BigInt(unit.exponent) <= largestBinary;
}

function parseLong(unit: Unit, negative: boolean, integer: string, fraction: string): Quantity {
  let magnitude = BigInt(integer + fraction);
  let exponent = unit.exponent - fraction.length;
  if (unit.base === 2) {
    magnitude <<= BigInt(unit.exponent);
    exponent = -fraction.length;
  }
  // Nothing is finer than a billionth; a smaller amount is rounded up, so that who wants something gets something.
  if (magnitude !== 0n && exponent < -9) {
    magnitude = roundUp(magnitude, -9 - exponent);
    exponent = -9;
  }
  let { format } = unit;
  if (format === 'BinarySI') {
    if (exponent >= 0 ? magnitude > largestBinary : magnitude > largestBinary * 10n ** BigInt(-exponent)) {
      magnitude = largestBinary;
      exponent = 0;
    }
    if (magnitude > 0n && exponent < 0 && magnitude < 10n ** BigInt(-exponent)) format = 'DecimalSI';
  }
  return { unscaled: negative ? -magnitude : magnitude, exponent, format, isLong: true };
}

const quantityOf = (quantity: Quantity | string): Quantity =>
  typeof quantity === 'string' ? parseQuantity(quantity) : quantity;

const signOf = (value: bigint): -1 | 0 | 1 => (value < 0n ? -1 : value > 0n ? 1 : 0);

const magnitudeOf = ({ unscaled, exponent }: Quantity): number =>
  (unscaled < 0n ? -unscaled : unscaled).toString().length + exponent;

function aligned(a: Quantity, b: Quantity): [bigint, bigint] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [raised(a, exponent), raised(b, exponent)];
}

const raised = ({ unscaled, exponent }: Quantity, to: number): bigint =>
  exponent === to ? unscaled : unscaled * 10n ** BigInt(Math.min(exponent - to, largestShift));

/** value / 10^digits, away from zero. */
function roundUp(value: bigint, digits: number): bigint {
  if (value === 0n) return 0n;
  if (digits > largestShift) return value < 0n ? -1n : 1n;
  const divisor = 10n ** BigInt(digits);
  const quotient = value / divisor;
  if (value % divisor === 0n) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

/** The value if it has no fraction. */
function wholeNumber({ unscaled, exponent }: Quantity): bigint | undefined {
  if (exponent >= 0) return unscaled * 10n ** BigInt(Math.min(exponent, largestShift));
  const divisor = 10n ** BigInt(-exponent);
  return unscaled % divisor === 0n ? unscaled / divisor : undefined;
}

function removeFactors(start: bigint, factor: bigint): { value: bigint; times: number } {
  let value = start;
  let times = 0;
  while (value !== 0n && value % factor === 0n) {
    value /= factor;
    times++;
  }
  return { value, times };
}
