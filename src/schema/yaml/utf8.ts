// Bytes as text, for YAML: what is not UTF-8 is refused where it stands, in the words of Go's reader.
import { isUtf8 } from 'node:buffer';
import { bufferOf } from '../../lib/values/buffer-of.js';

export interface Utf8 {
  readonly text: string;
  /** What is wrong with the bytes right after the text; undefined where it is all there is. */
  readonly fault?: string;
}

// hot: every apply.
export function readUtf8(bytes: Uint8Array): Utf8 {
  const buffer = bufferOf(bytes);
  if (isUtf8(buffer)) return { text: buffer.toString('utf8') };
  for (let at = 0; at < buffer.length;) {
    const width = widthOf(buffer[at] ?? 0);
    const fault = faultOf(buffer, at, width);
    if (fault !== undefined) return { text: buffer.toString('utf8', 0, at), fault };
    at += width;
  }
  throw new Error('bytes are UTF-8 and are not');
}

/** How many bytes a character has by its first; 0 for what begins none. */
function widthOf(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc0) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf8 ? 4 : 0;
}

/** The least that is written with so many bytes. */
const LEAST = [0, 0, 0x80, 0x800, 0x10000];

function faultOf(buffer: Buffer, at: number, width: number): string | undefined {
  if (width === 0) return 'invalid leading UTF-8 octet';
  if (width === 1) return undefined;
  if (at + width > buffer.length) return 'incomplete UTF-8 octet sequence';
  let value = (buffer[at] ?? 0) & (0x7f >> width);
  for (const octet of buffer.subarray(at + 1, at + width)) {
    if ((octet & 0xc0) !== 0x80) return 'invalid trailing UTF-8 octet';
    value = (value << 6) | (octet & 0x3f);
  }
  if (value < (LEAST[width] ?? 0)) return 'invalid length of a UTF-8 sequence';
  const isSurrogate = value >= 0xd800 && value <= 0xdfff;
  return isSurrogate || value > 0x10ffff ? 'invalid Unicode character' : undefined;
}
