// The Huffman code of header fields, RFC 7541, appendix B. It is canonical: codes of a length follow one another in the
// order of their symbols, so the lengths define it.
import type { ByteWriter } from '../byte-writer.js';
import { CompressionError } from './compression-error.js';

// oxfmt-ignore
const LENGTHS = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
  28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
  5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
  6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
  24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
  21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
  26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
];
const END_OF_STRING = 256;
const CODES = canonicalCodes();

function canonicalCodes(): readonly number[] {
  const codes = Array<number>(LENGTHS.length).fill(0);
  const bySymbol = LENGTHS.map((length, symbol) => ({ length, symbol }));
  let code = 0;
  let before = 0;
  for (const { length, symbol } of bySymbol.toSorted((a, b) => a.length - b.length || a.symbol - b.symbol)) {
    code <<= length - before;
    before = length;
    codes[symbol] = code++;
  }
  return codes;
}

/** The encoded length of the text, a character for each byte. */
export function huffmanBytes(text: string): number {
  let bits = 0;
  for (let i = 0; i < text.length; i++) bits += LENGTHS[text.charCodeAt(i) & 0xff] as number;
  return (bits + 7) >>> 3;
}

/** Room for it is there already. The last byte is filled up with ones. */
export function putHuffman(out: ByteWriter, text: string): void {
  const { bytes } = out;
  let { at } = out;
  let held = 0;
  let bits = 0;
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i) & 0xff;
    let left = LENGTHS[symbol] as number;
    const code = CODES[symbol] as number;
    // A code has up to 30 bits, and up to seven are pending: written byte by byte to stay within 32 bits.
    while (left > 0) {
      const taken = Math.min(left, 8 - bits);
      left -= taken;
      held = (held << taken) | ((code >>> left) & ((1 << taken) - 1));
      bits += taken;
      if (bits < 8) continue;
      bytes[at++] = held;
      held = 0;
      bits = 0;
    }
  }
  if (bits > 0) bytes[at++] = (held << (8 - bits)) | (0xff >>> bits);
  out.at = at;
}

// Decoding goes by half bytes. A state is an inner node of the tree of codes; no code is shorter than five bits, so half
// a byte completes one symbol at most.
const FAILED = -1;
const COMPLETES = 0x100;
const SYMBOL_SHIFT = 9;
interface Decoding {
  readonly steps: Int32Array;
  readonly mayEnd: Uint8Array;
}
/** Made for the first string that is decoded: a start does not wait for it. */
let decoding: Decoding | undefined;

/** Decodes to at most `bytes` × 8/5 characters. */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string {
  const { steps, mayEnd } = (decoding ??= buildSteps());
  const most = Math.ceil(((end - start) * 8) / 5);
  const out = most <= scratch.length ? scratch : Buffer.allocUnsafe(most);
  let length = 0;
  let state = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    let step = steps[(state << 4) | (byte >>> 4)] as number;
    if (step === FAILED) throw new CompressionError('the end of a string inside it');
    if (step & COMPLETES) out[length++] = step >>> SYMBOL_SHIFT;
    state = step & 0xff;
    step = steps[(state << 4) | (byte & 0xf)] as number;
    if (step === FAILED) throw new CompressionError('the end of a string inside it');
    if (step & COMPLETES) out[length++] = step >>> SYMBOL_SHIFT;
    state = step & 0xff;
  }
  if (mayEnd[state] === 0) throw new CompressionError('a string is not filled up with ones, or with too many');
  return out.toString('latin1', 0, length);
}

const scratch = Buffer.allocUnsafe(8192);

function buildSteps(): Decoding {
  // Two children for each inner node: above zero an inner node, below it the symbol, negative and less one.
  const children: number[] = [0, 0];
  for (const [symbol, length] of LENGTHS.entries()) {
    let node = 0;
    for (let bit = length - 1; bit > 0; bit--) {
      const slot = node * 2 + (((CODES[symbol] as number) >>> bit) & 1);
      if (children[slot] === 0) {
        children[slot] = children.length / 2;
        children.push(0, 0);
      }
      node = children[slot] as number;
    }
    children[node * 2 + ((CODES[symbol] as number) & 1)] = -symbol - 1;
  }
  const nodes = children.length / 2;
  const all = new Int32Array(nodes * 16);
  for (let state = 0; state < nodes; state++) {
    for (let half = 0; half < 16; half++) all[state * 16 + half] = stepFrom(children, state, half);
  }
  return { steps: all, mayEnd: endings(children) };
}

function stepFrom(children: readonly number[], state: number, half: number): number {
  let node = state;
  let completed = 0;
  for (let bit = 3; bit >= 0; bit--) {
    const next = children[node * 2 + ((half >>> bit) & 1)] as number;
    if (next > 0) {
      node = next;
      continue;
    }
    const symbol = -next - 1;
    if (symbol === END_OF_STRING) return FAILED;
    completed = COMPLETES | (symbol << SYMBOL_SHIFT);
    node = 0;
  }
  return completed | node;
}

/** A string may end between two symbols, or after up to seven ones. */
function endings(children: readonly number[]): Uint8Array {
  const may = new Uint8Array(children.length / 2);
  let node = 0;
  for (let ones = 0; ones <= 7; ones++) {
    may[node] = 1;
    node = children[node * 2 + 1] as number;
  }
  return may;
}
