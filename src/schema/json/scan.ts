// hot: one pass over a JSON text before JSON.parse, to learn what JSON.parse will not report.
//
// Counting keys in the text and in the parsed objects finds duplicates without a second parse. Numbers that JavaScript
// would round, or that are written with a fraction or exponent, send the text to the slower parser that keeps them.

import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { maxJsonDepth } from './parse.js';

/** In characters. JSON.parse reads so much in less than a millisecond. */
export const LARGE_TEXT = 32 * 1024;

export interface Scan {
  /** Strings followed by a colon. */
  readonly keys: number;
  /** A number of 16 digits or more, a fraction or an exponent: JSON.parse would lose what was written. */
  readonly exactNumbers: boolean;
  readonly depth: number;
}

/** `large`: filled with where containers of more than LARGE_TEXT characters begin and end. */
export function scanJson(text: string, large?: Map<number, number>): Scan {
  const scanning = begun();
  scanOn(text, scanning, text.length, large);
  return scanning;
}

/** In characters: they are scanned in a few milliseconds, also before the engine has compiled the scan. */
const PIECE = 128 * 1024;

/** Scans in steps, until it is too deep: nobody reads it then. */
export function* scanPieces(text: string, large: Map<number, number>): StepGenerator<Scan> {
  const scanning = begun();
  while (scanning.at < text.length && scanning.depth <= maxJsonDepth) {
    scanOn(text, scanning, Math.min(scanning.at + PIECE, text.length), large);
    yield;
  }
  return scanning;
}

interface Scanning {
  at: number;
  keys: number;
  exactNumbers: boolean;
  open: number;
  depth: number;
  readonly starts: number[];
}

const begun = (): Scanning => ({ at: 0, keys: 0, exactNumbers: false, open: 0, depth: 0, starts: [] });

/** As far as `until`, and to the end of what begins before it. */
function scanOn(text: string, scanning: Scanning, until: number, large: Map<number, number> | undefined): void {
  const { starts } = scanning;
  let { keys, exactNumbers, open: depth, depth: deepest, at: i } = scanning;
  const end = text.length;
  while (i < until) {
    const code = text.charCodeAt(i);
    if (code === quote) {
      i = endOfString(text, i + 1, end);
      while (i < end && isSpace(text.charCodeAt(i))) i++;
      if (i < end && text.charCodeAt(i) === colon) {
        keys++;
        i++;
      }
    } else if (code >= zero && code <= nine) {
      const start = i;
      do i++;
      while (i < end && isDigit(text.charCodeAt(i)));
      if (i - start >= 16) exactNumbers = true;
      else if (i < end) {
        const next = text.charCodeAt(i);
        if (next === dot || next === lowerE || next === upperE) exactNumbers = true;
      }
    } else {
      if (code === openBrace || code === openBracket) {
        depth++;
        if (depth > deepest) deepest = depth;
        if (large !== undefined) starts.push(i);
      } else if (code === closeBrace || code === closeBracket) {
        depth--;
        const start = large === undefined ? undefined : starts.pop();
        if (start !== undefined && i - start > LARGE_TEXT) large?.set(start, i + 1);
      }
      i++;
    }
  }
  scanning.at = i;
  scanning.keys = keys;
  scanning.exactNumbers = exactNumbers;
  scanning.open = depth;
  scanning.depth = deepest;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const zero = 0x30;
const nine = 0x39;
const dot = 0x2e;
const lowerE = 0x65;
const upperE = 0x45;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Strings up to here are read character by character, which is quicker than a search by the engine. */
const SHORT = 48;

/** The place after the closing quote. */
export function endOfString(text: string, start: number, end: number): number {
  let i = start;
  const near = Math.min(start + SHORT, end);
  while (i < near) {
    const code = text.charCodeAt(i);
    if (code === quote) return i + 1;
    i += code === backslash ? 2 : 1;
  }
  for (;;) {
    const found = text.indexOf('"', i);
    if (found < 0) return end;
    if (!isEscaped(text, i, found)) return found + 1;
    i = found + 1;
  }
}

/** Whether an odd number of backslashes comes before; what is before `start` is no half of an escape. */
function isEscaped(text: string, start: number, at: number): boolean {
  let i = at;
  while (i > start && text.charCodeAt(i - 1) === backslash) i--;
  return (at - i) % 2 === 1;
}

export const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
const isDigit = (code: number): boolean => code >= zero && code <= nine;
