// A number as Go formats it with `%g`: with an exponent of at least two digits from a million on, and below 0.0001.

/** Whether a number that was read from JSON is a float there: large whole ones are bigints, unless they were written as such. */
export const isGoFloat = (value: number): boolean => !Number.isSafeInteger(value);

export function goFloatText(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  const size = Math.abs(value);
  if (Number.isNaN(value) || value === 0 || (size >= 1e-4 && size < 1e6)) return String(value);
  const [digits = '', power = ''] = value.toExponential().split('e');
  return `${digits}e${power.charAt(0)}${power.slice(1).padStart(2, '0')}`;
}
