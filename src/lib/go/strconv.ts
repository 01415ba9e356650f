// Numbers and booleans as Go's strconv reads them, with its error texts, which users meet on the command line.
import { goQuote } from './quote.js';
import { signedOf } from '../values/int64.js';

/** A text that does not read as the wanted value. */
export class SyntaxMistake extends Error {}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** Whether Go parses the text as true; false also for a text that is no boolean. */
export const isTrueText = (text: string): boolean => TRUE.has(text);

export function parseBool(text: string): boolean {
  if (isTrueText(text)) return true;
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
const SIGNED_DECIMAL = /^[+-]?[0-9]+$/;

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

/** Parses decimal digits with an optional sign, exactly and in linear time. */
export function parseInt64(text: string): bigint {
  const value = SIGNED_DECIMAL.test(text) ? signedOf(text) : undefined;
  if (value !== undefined) return value;
  const why = SIGNED_DECIMAL.test(text) ? 'value out of range' : 'invalid syntax';
  throw new SyntaxMistake(`strconv.ParseInt: parsing ${goQuote(text)}: ${why}`);
}

const DIGITS = '[0-9](?:_?[0-9])*';
const HEX_DIGITS = '[0-9a-fA-F](?:_?[0-9a-fA-F])*';
const FLOAT = new RegExp(`^[+-]?(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:[eE][+-]?${DIGITS})?$`);
const HEX_FLOAT = new RegExp(
  `^([+-]?)0[xX](?:_?(${HEX_DIGITS})(?:\\.(${HEX_DIGITS})?)?|\\.(${HEX_DIGITS}))[pP]([+-]?${DIGITS})$`,
);
const INFINITE = /^[+-]?inf(?:inity)?$/i;

export function parseFloat64(text: string): number {
  if (INFINITE.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return NaN;
  const hex = HEX_FLOAT.exec(text);
  if (hex === null && !FLOAT.test(text)) {
    throw new SyntaxMistake(`strconv.ParseFloat: parsing ${goQuote(text)}: invalid syntax`);
  }
  const value = hex === null ? Number(text.replaceAll('_', '')) : hexFloat(hex);
  if (!Number.isFinite(value)) throw beyondRange(text);
  return value;
}

function hexFloat([, sign, before = '', after = '', alone = '', power = '']: RegExpExecArray): number {
  const fraction = (after + alone).replaceAll('_', '');
  const digits = BigInt(`0x${before.replaceAll('_', '')}${fraction}`);
  if (digits === 0n) return 0;
  const exponent = Number(power.replaceAll('_', '')) - 4 * fraction.length;
  // In two steps: a power alone may be beyond range where the product is not.
  const half = Math.trunc(exponent / 2);
  return (sign === '-' ? -1 : 1) * Number(digits) * 2 ** half * 2 ** (exponent - half);
}

/** As written, where the narrower type has room for it. */
export function parseFloat32(text: string): number {
  const value = parseFloat64(text);
  if (Number.isFinite(value) && !Number.isFinite(Math.fround(value))) throw beyondRange(text);
  return value;
}

const beyondRange = (text: string): SyntaxMistake =>
  new SyntaxMistake(`strconv.ParseFloat: parsing ${goQuote(text)}: value out of range`);
