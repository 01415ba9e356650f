// Numbers and booleans as Go's strconv reads them, with its error texts, which users meet on the command line.
import { goQuote } from './go-quote.js';

/** A text that does not read as the wanted value. */
export class SyntaxMistake extends Error {}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

export function parseBool(text: string): boolean {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw new SyntaxMistake(`strconv.ParseBool: parsing ${goQuote(text)}: invalid syntax`);
}

export interface IntegerRules {
  /** The function's name in the error text. */
  readonly as: 'ParseInt' | 'ParseUint' | 'Atoi';
  readonly bits: number;
  readonly signed: boolean;
  /** 0: the prefix decides (`0x`, `0o`, `0b`, `0`) and underscores may stand between digits. */
  readonly base: 0 | 10;
}

const ANY_BASE = /^(?:0[xX](?:_?[0-9a-fA-F])+|0[oO]?(?:_?[0-7])+|0[bB](?:_?[01])+|0|[1-9](?:_?[0-9])*)$/;
const DECIMAL = /^[0-9]+$/;

export function parseInteger(text: string, { as, bits, signed, base }: IntegerRules): number {
  const sign = signed && /^[+-]/.test(text) ? text.slice(0, 1) : '';
  const digits = text.slice(sign.length);
  if (!(base === 0 ? ANY_BASE : DECIMAL).test(digits)) {
    throw new SyntaxMistake(`strconv.${as}: parsing ${goQuote(text)}: invalid syntax`);
  }
  const plain = digits.replaceAll('_', '');
  const magnitude = BigInt(base === 0 && /^0[0-7]/.test(plain) ? `0o${plain.slice(1)}` : plain);
  const value = sign === '-' ? -magnitude : magnitude;
  const max = 2n ** BigInt(signed ? bits - 1 : bits) - 1n;
  if (value > max || value < (signed ? -max - 1n : 0n)) {
    throw new SyntaxMistake(`strconv.${as}: parsing ${goQuote(text)}: value out of range`);
  }
  return Number(value);
}

const FLOAT = /^[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)$/i;

export function parseFloat64(text: string): number {
  if (!FLOAT.test(text)) throw new SyntaxMistake(`strconv.ParseFloat: parsing ${goQuote(text)}: invalid syntax`);
  if (/inf/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  const value = Number(text);
  if (!Number.isFinite(value) && !Number.isNaN(value)) throw beyondRange(text);
  return value;
}

/** As written, where the narrower type has room for it. */
export function parseFloat32(text: string): number {
  const value = parseFloat64(text);
  if (Number.isFinite(value) && !Number.isFinite(Math.fround(value))) throw beyondRange(text);
  return value;
}

const beyondRange = (text: string): SyntaxMistake =>
  new SyntaxMistake(`strconv.ParseFloat: parsing ${goQuote(text)}: value out of range`);
