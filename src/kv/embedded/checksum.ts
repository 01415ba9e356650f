// Checksums of what the store writes, so that what the disk returns otherwise is noticed: CRC-32 of values, and of keys, which
// are short, a hash that takes less than calling out of JavaScript.
import zlib from 'node:zlib';

const native: typeof zlib.crc32 | undefined = zlib.crc32;

/** `seed` is the checksum of what came before, or anything else that is to be covered. */
// hot: every record that is read or written
export const checksumOf: (bytes: Buffer, seed: number) => number = native ?? tableChecksum;

const POLYNOMIAL = 0xedb88320;
let table: Int32Array | undefined;

/** For Node.js before 20.15 and 22.2, which have none of their own. */
export function tableChecksum(bytes: Buffer, seed: number): number {
  table ??= makeTable();
  let crc = ~seed;
  // An index: an iterator would take three times as long.
  for (let at = 0; at < bytes.length; at++) crc = (table[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  return ~crc >>> 0;
}

const makeTable = (): Int32Array =>
  Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? POLYNOMIAL ^ (crc >>> 1) : crc >>> 1;
    return crc;
  });

const HASH_START = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;

/** FNV-1a. */
// hot: every record that is read or written
export function hashOf(bytes: Buffer, from = 0, to = bytes.length): number {
  let hash = HASH_START;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), HASH_FACTOR);
  return hash >>> 0;
}

// Odd, so that no two numbers have the same product.
const LOW_FACTORS = [0x9e3779b1, 0x85ebca6b, 0xc2b2ae35] as const;
const HIGH_FACTORS = [0x27d4eb2f, 0x165667b1, 0xd3a2646d] as const;

/** Numbers that a checksum covers beside bytes: one bit more or less in any of them is another seed. */
export function seedOf(first: number, second = 0, third = 0): number {
  const low = Math.imul(first, LOW_FACTORS[0]) ^ Math.imul(second, LOW_FACTORS[1]) ^ Math.imul(third, LOW_FACTORS[2]);
  const high =
    Math.imul(highOf(first), HIGH_FACTORS[0]) ^
    Math.imul(highOf(second), HIGH_FACTORS[1]) ^
    Math.imul(highOf(third), HIGH_FACTORS[2]);
  return (low ^ high) >>> 0;
}

/** Of a number of 48 bits, what is above 32. */
const highOf = (number: number): number => Math.trunc(number / 2 ** 32);
