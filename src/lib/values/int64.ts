export const MAX_INT64 = 2n ** 63n - 1n;

/** As many digits as the largest number of 64 bits has. */
const MAX_DIGITS = 20;
const NOT_SIGNIFICANT = /^[+-]?0*/;

/**
 * The number that a sign, if there is one, and decimal digits say; undefined when 64 bits do not hold it. Reading a
 * million digits takes long, so what has too many is not read.
 */
export const signedOf = (text: string): bigint | undefined => within(text, (value) => BigInt.asIntN(64, value));

/** The number that unsigned decimal digits say; undefined when 64 bits do not hold it. */
export const unsignedOf = (text: string): bigint | undefined => within(text, (value) => BigInt.asUintN(64, value));

function within(text: string, clamp: (value: bigint) => bigint): bigint | undefined {
  const leading = NOT_SIGNIFICANT.exec(text)?.[0].length ?? 0;
  if (text.length - leading > MAX_DIGITS) return undefined;
  const magnitude = BigInt(text.slice(leading) || '0');
  const value = text.startsWith('-') ? -magnitude : magnitude;
  return clamp(value) === value ? value : undefined;
}
