// Writes DER (ASN.1), as far as certificates need it.
import { append } from '../values/append.js';
import { DER } from './der.js';

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest & 0xff);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

export const derSequence = (...parts: readonly Buffer[]): Buffer => der(DER.sequence, ...parts);
export const derSet = (...parts: readonly Buffer[]): Buffer => der(DER.set, ...parts);
export const derBoolean = (value: boolean): Buffer => der(DER.boolean, Buffer.from([value ? 0xff : 0]));
export const derOctets = (content: Buffer): Buffer => der(DER.octetString, content);
export const derUtf8 = (text: string): Buffer => der(DER.utf8String, Buffer.from(text, 'utf8'));
/** A context-specific element that holds others. */
export const derTagged = (number: number, ...parts: readonly Buffer[]): Buffer => der(0xa0 | number, ...parts);
/** A context-specific element in place of a simple one. */
export const derImplicit = (number: number, content: Buffer): Buffer => der(0x80 | number, content);

/** A number from its big-endian bytes, never negative. */
export function derInteger(bytes: Buffer): Buffer {
  const first = bytes[0] ?? 0;
  return der(DER.integer, first >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** Whole bytes only, unless `unusedBits` of the last are not meant. */
export const derBits = (content: Buffer, unusedBits = 0): Buffer =>
  der(DER.bitString, Buffer.from([unusedBits]), content);

export function derOidOf(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const digits = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      digits.unshift((left & 0x7f) | 0x80);
    append(bytes, digits);
  }
  return der(DER.oid, Buffer.from(bytes));
}

/** Two-digit years until 2049, four-digit ones after, as certificates want it. */
export function derTimeOf(milliseconds: number): Buffer {
  const text = new Date(milliseconds).toISOString().replace(/[-:T]|\.\d+/g, '');
  const short = Number(text.slice(0, 4)) < 2050;
  return der(short ? DER.utcTime : DER.generalizedTime, Buffer.from(short ? text.slice(2) : text, 'ascii'));
}
