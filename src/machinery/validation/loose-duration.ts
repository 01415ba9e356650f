// Durations as schemas of custom resources know them: Go's, and loosely written ones such as `5 minutes` or `1 day`.
import { TimeError, parseDuration } from '../time.js';

const MICROSECOND = 1000n;
const MILLISECOND = 1000n * MICROSECOND;
const SECOND = 1000n * MILLISECOND;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
const DAY = 24n * HOUR;

/** The names of each unit; of the last one, a prefix is enough: `minutes` is `min`. */
const UNITS: readonly (readonly [bigint, readonly string[]])[] = [
  [1n, ['ns', 'nano']],
  [MICROSECOND, ['us', 'µs', 'micro']],
  [MILLISECOND, ['ms', 'milli']],
  [SECOND, ['s', 'sec']],
  [MINUTE, ['m', 'min']],
  [HOUR, ['h', 'hr', 'hour']],
  [DAY, ['d', 'day']],
  [7n * DAY, ['w', 'wk', 'week']],
];

/** Numbers, with a unit or without: one that has none is passed over whole, not tried again from its second digit. */
const AMOUNT = /(\d+)\s*([A-Za-z\u00b5]*)/g;
/** Of a number of 64 bits. */
const MAX_DIGITS = 19;

/** In nanoseconds; undefined when the text is no duration. */
export function parseLooseDuration(text: string): bigint | undefined {
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
  }
  let total: bigint | undefined;
  for (const [, digits = '', name = ''] of text.matchAll(AMOUNT)) {
    if (name === '') continue;
    const significant = digits.replace(/^0+/, '');
    const count = BigInt(significant.slice(0, MAX_DIGITS + 1));
    if (count !== BigInt.asIntN(64, count)) return undefined;
    const size = unitOf(name.toLowerCase());
    if (size !== undefined) total = (total ?? 0n) + count * size;
  }
  return total === undefined ? undefined : BigInt.asIntN(64, total);
}

function unitOf(name: string): bigint | undefined {
  for (const [size, names] of UNITS) {
    if (names.includes(name) || name.startsWith(names.at(-1) ?? '')) return size;
  }
  return undefined;
}
