// Integers with a prefix, RFC 7541, section 5.1: what does not fit the free bits of a byte goes on in bytes of seven.
//
//   10 in 5 bits      ---01010
//   1337 in 5 bits    ---11111 10011010 00001010
import type { ByteWriter } from '../byte-writer.js';
import { CompressionError } from './compression-error.js';

/** More than a prefix and five bytes would need is refused: nothing here is counted in thousands of millions. */
export const MAX_INTEGER_BYTES = 6;
const MAX_SHIFT = 28;

/** `first` has the bits in front of the prefix. */
export function putInteger(out: ByteWriter, first: number, prefixBits: number, value: number): void {
  const most = (1 << prefixBits) - 1;
  const { bytes } = out;
  if (value < most) {
    bytes[out.at++] = first | value;
    return;
  }
  bytes[out.at++] = first | most;
  let rest = value - most;
  while (rest >= 0x80) {
    bytes[out.at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[out.at++] = rest;
}

/** Reads from `at` on up to `end`, and leaves at `at` where the next begins. */
export class IntegerReader {
  at = 0;
  end = 0;

  begin(start: number, end: number): void {
    this.at = start;
    this.end = end;
  }

  read(bytes: Buffer, prefixBits: number): number {
    const most = (1 << prefixBits) - 1;
    if (this.at >= this.end) throw new CompressionError('a field ends early');
    let value = (bytes[this.at++] as number) & most;
    if (value < most) return value;
    for (let shift = 0; ; shift += 7) {
      if (this.at >= this.end) throw new CompressionError('an integer ends early');
      const byte = bytes[this.at++] as number;
      if (shift > MAX_SHIFT || (shift === MAX_SHIFT && byte > 7)) throw new CompressionError('an integer is too large');
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }
}
