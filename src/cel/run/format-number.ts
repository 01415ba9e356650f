// Doubles as Go formats them.

/** The shortest decimal form without an exponent, as %f without a precision. */
export function formatDecimal(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  if (!text.includes('e')) return text;
  const { sign, digits, exponent } = decompose(value);
  // The decimal point stands after `exponent + 1` digits.
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  return sign + digits.padEnd(exponent + 1, '0');
}

/** As %g: the shortest form, with an exponent below -4 and from 6 on. */
export function formatGeneral(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const { sign, digits, exponent } = decompose(value);
  if (exponent >= -4 && exponent < 6) return formatDecimal(value);
  return sign + mantissa(digits) + formatExponent(exponent);
}

/** As %.*f: so many digits after the point, a half to the even one. */
export function formatFixed(value: number, digits: number): string {
  const { numerator, twos } = binaryOf(Math.abs(value));
  const wanted = numerator * 10n ** BigInt(digits);
  const rounded = twos >= 0 ? wanted << BigInt(twos) : halfToEven(wanted, BigInt(-twos));
  const text = String(rounded).padStart(digits + 1, '0');
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** The finite value as `numerator × 2^twos`. */
function binaryOf(value: number): { numerator: bigint; twos: number } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const exponent = (bits.getUint16(0) >> 4) & 0x7ff;
  const fraction = bits.getBigUint64(0) & (2n ** 52n - 1n);
  return exponent === 0
    ? { numerator: fraction, twos: -1074 }
    : { numerator: fraction + 2n ** 52n, twos: exponent - 1075 };
}

/** value / 2^twos */
function halfToEven(value: bigint, twos: bigint): bigint {
  const quotient = value >> twos;
  const twiceRest = (value - (quotient << twos)) * 2n;
  const divisor = 1n << twos;
  const up = twiceRest > divisor || (twiceRest === divisor && (quotient & 1n) === 1n);
  return up ? quotient + 1n : quotient;
}

const mantissa = (digits: string): string => (digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`);

function formatExponent(exponent: number): string {
  return `e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** The shortest digits that mean the value, and the power of ten of the first. */
function decompose(value: number): { sign: string; digits: string; exponent: number } {
  const match = /^(-?)(\d)(?:\.(\d+))?e([-+]\d+)$/.exec(value.toExponential());
  const [, sign = '', first = '0', rest = '', power = '0'] = match ?? [];
  return { sign, digits: first + rest, exponent: Number(power) };
}
