// Doubles as Go prints them.

/** The shortest decimal form without an exponent, as %f with no precision given. */
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
