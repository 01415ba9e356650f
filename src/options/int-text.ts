import { MAX_INT64 } from '../lib/values/int64.js';

/** A whole number of 64 bits that was read into a number, in full. The largest is a power of two there, one too many. */
export const intText = (value: number): string => (value >= 2 ** 63 ? String(MAX_INT64) : String(BigInt(value)));
