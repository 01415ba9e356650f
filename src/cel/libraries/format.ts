// `'%s of %d'.format([…])`. The same reading of the format text serves evaluation and the check of literal calls.
import { goQuote } from '../../lib/go/quote.js';
import type { CheckedTree } from '../library.js';
import { formatFixed, formatGeneral } from '../run/format-number.js';
import { checkCharacters, joinTexts } from '../run/size-limits.js';
import { formatDuration, formatTimestamp } from '../run/time.js';
import type { Expr } from '../syntax/expression.js';
import type { Kind } from '../type.js';
import { CelType } from '../type.js';
import type { Value } from '../value.js';
import { CelError, CelList, CelMap, Duration, Timestamp, typeOf, Uint } from '../value.js';

/** Formatting failed; `at` is the expression that is to blame, when the call is checked before it runs. */
class FormatError extends Error {
  constructor(
    message: string,
    readonly at?: Expr,
  ) {
    super(message);
  }
}

type Clause = 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o';

interface Interpolation {
  readonly size: number;
  /** The text of an argument under a clause. */
  format(index: number, clause: Clause, precision: number | undefined): string;
}

export function formatText(text: string, args: CelList): Value {
  try {
    return interpolate(text, {
      size: args.size,
      format: (index, clause, precision) => formatClause(args.at(index), clause, precision),
    });
  } catch (error) {
    if (error instanceof FormatError) return new CelError(error.message);
    throw error;
  }
}

function interpolate(text: string, args: Interpolation): string {
  let result = '';
  let next = 0;
  for (let i = 0; i < text.length;) {
    if (text[i] !== '%' || text[i + 1] === '%') {
      result += text[i];
      i += text[i] === '%' ? 2 : 1;
      continue;
    }
    if (i + 1 >= text.length) throw new FormatError('unexpected end of string');
    if (next >= args.size) throw new FormatError(`index ${next} out of range`);
    const { clause, precision, end } = readClause(text, i + 1);
    try {
      result += args.format(next, clause, precision);
    } catch (error) {
      if (error instanceof FormatError) throw new FormatError(`error during formatting: ${error.message}`, error.at);
      throw error;
    }
    checkCharacters(result.length);
    next++;
    i = end;
  }
  return result;
}

function readClause(text: string, start: number): { clause: Clause; precision: number | undefined; end: number } {
  const wrong = (why: string): FormatError => new FormatError(`could not parse formatting clause: ${why}`);
  let at = start;
  let precision: number | undefined;
  if (text[at] === '.') {
    const digits = /^[0-9]*/.exec(text.slice(at + 1))?.[0] ?? '';
    at += 1 + digits.length;
    if (at >= text.length) throw wrong('error while parsing precision: could not find end of precision specifier');
    precision = Number(digits);
    const fault = digits === '' ? 'invalid syntax' : precision >= 2 ** 63 ? 'value out of range' : undefined;
    if (fault !== undefined) {
      throw wrong(
        `error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "${digits}": ${fault}`,
      );
    }
  }
  const letter = text[at] ?? '';
  if (!isClause(letter)) throw wrong(`unrecognized formatting clause "${firstByte(text, at)}"`);
  return { clause: letter, precision, end: at + 1 };
}

/** What counts as a letter in kube-apiserver. */
const firstByte = (text: string, at: number): string =>
  String.fromCharCode(Buffer.from(String.fromCodePoint(text.codePointAt(at) ?? 0))[0] ?? 0);

const isClause = (letter: string): letter is Clause => /^[sdfebxXo]$/.test(letter);

const WANTED: Readonly<Record<Clause, { readonly kinds: readonly Kind[]; readonly complaint: string }>> = {
  s: {
    kinds: ['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null'],
    complaint:
      'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  },
  d: { kinds: ['int', 'uint'], complaint: 'decimal clause can only be used on integers' },
  // "NaN", "Infinity" and "-Infinity" may be written as strings.
  f: { kinds: ['double', 'string'], complaint: 'fixed-point clause can only be used on doubles' },
  e: { kinds: ['double', 'string'], complaint: 'scientific clause can only be used on doubles' },
  b: { kinds: ['int', 'uint', 'bool'], complaint: 'only integers and bools can be formatted as binary' },
  x: {
    kinds: ['int', 'uint', 'string', 'bytes'],
    complaint: 'only integers, byte buffers, and strings can be formatted as hex',
  },
  X: {
    kinds: ['int', 'uint', 'string', 'bytes'],
    complaint: 'only integers, byte buffers, and strings can be formatted as hex',
  },
  o: { kinds: ['int', 'uint'], complaint: 'octal clause can only be used on integers' },
};

const unfit = (clause: Clause, type: CelType, at?: Expr): FormatError =>
  new FormatError(`${WANTED[clause].complaint}, was given ${type.name}`, at);

const DEFAULT_PRECISION = 6;

function formatClause(value: Value, clause: Clause, precision = DEFAULT_PRECISION): string {
  const integer = typeof value === 'bigint' ? value : value instanceof Uint ? value.value : undefined;
  switch (clause) {
    case 's':
      return textOf(value);
    case 'd':
      if (integer !== undefined) return String(integer);
      break;
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      if (integer !== undefined) return integer.toString(2);
      break;
    case 'o':
      if (integer !== undefined) return integer.toString(8);
      break;
    case 'x':
    case 'X': {
      const bytes = typeof value === 'string' ? Buffer.from(value) : value instanceof Uint8Array ? value : undefined;
      const hex = integer?.toString(16) ?? (bytes === undefined ? undefined : Buffer.from(bytes).toString('hex'));
      if (hex !== undefined) return clause === 'X' ? hex.toUpperCase() : hex;
      break;
    }
    case 'f':
    case 'e': {
      const double = doubleOf(value);
      if (double !== undefined) return clause === 'f' ? fixedPoint(double, precision) : scientific(double, precision);
    }
  }
  throw unfit(clause, typeOf(value));
}

function doubleOf(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (value === 'NaN') return NaN;
  if (value === 'Infinity') return Infinity;
  return value === '-Infinity' ? -Infinity : undefined;
}

/** As an English reader expects it: groups of three digits, and ∞. */
function fixedPoint(value: number, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  // kube-apiserver keeps how many digits are wanted in one byte, and has no minus before zero.
  const [whole = '', fraction] = formatFixed(value === 0 ? 0 : value, precision % 256).split('.');
  const grouped = inGroupsOfThree(whole);
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function inGroupsOfThree(number: string): string {
  const sign = number.startsWith('-') ? '-' : '';
  const digits = number.slice(sign.length);
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return sign + groups.join(',');
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** 1.052033×10⁰³. kube-apiserver reads the precision of a clause as a width: it adds no digits, but padding. */
function scientific(value: number, width: number): string {
  checkCharacters(width);
  return scientificText(value).padStart(width);
}

function scientificText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  const [mantissa = '', power = '0'] = value.toExponential(DEFAULT_PRECISION).split('e');
  const exponent = Number(power);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  const raised = Array.from(digits, (d) => SUPERSCRIPTS[Number(d)] ?? d).join('');
  return `${mantissa}×10${exponent < 0 ? '⁻' : ''}${raised}`;
}

function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'null';
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return formatGeneral(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return bytesText(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof CelType) return value.name;
  if (value instanceof CelList) return `[${joinTexts(literals(value), ', ')}]`;
  if (value instanceof CelMap) return mapText(value);
  throw unfit('s', typeOf(value));
}

function bytesText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FormatError('could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string');
  }
}

/** An element inside a list or map, as it would be written in an expression. */
function literalOf(value: Value): string {
  if (typeof value === 'string') return goQuote(value);
  if (value instanceof Uint8Array) return `b${goQuote(bytesText(value))}`;
  if (value instanceof Timestamp) return `timestamp(${goQuote(formatTimestamp(value))})`;
  if (value instanceof Duration) return `duration(${goQuote(formatDuration(value))})`;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return formatFixed(value, DEFAULT_PRECISION);
    return goQuote(Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf');
  }
  const { kind, name } = typeOf(value);
  if (kind === 'opaque') throw new FormatError(`no formatting function for ${name}`);
  return textOf(value);
}

function* literals(list: CelList): Iterable<string> {
  for (const item of list) yield literalOf(item);
}

function mapText(map: CelMap): string {
  const entries: (readonly [string, string])[] = [];
  let characters = 0;
  for (const key of map.keys()) {
    const entry = [literalOf(key), literalOf(map.find(key) ?? null)] as const;
    characters += entry[0].length + entry[1].length;
    checkCharacters(characters);
    entries.push(entry);
  }
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

/** Checks calls whose format and arguments are both written out. */
export function validateFormats(tree: CheckedTree): void {
  for (const call of tree.callsOf('format')) {
    const [list] = call.args;
    if (call.target?.kind !== 'literal' || typeof call.target.value !== 'string' || list?.kind !== 'list') continue;
    let used = 0;
    try {
      interpolate(call.target.value, {
        size: list.elements.length,
        format: (index, clause) => {
          used++;
          const argument = list.elements[index];
          if (argument !== undefined) checkArgument(tree, argument, clause);
          return '';
        },
      });
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      tree.report(error.at ?? call, error.message);
      continue;
    }
    if (list.elements.length > used) {
      const counts = `expected ${used}, got ${list.elements.length}`;
      tree.report(call, `too many arguments supplied to string.format (${counts})`);
    }
  }
}

function checkArgument(tree: CheckedTree, argument: Expr, clause: Clause): void {
  const type = tree.typeOf(argument);
  if (type.kind !== 'dyn' && !WANTED[clause].kinds.includes(type.kind)) throw unfit(clause, type, argument);
  if (clause !== 's') return;
  if (argument.kind === 'list') argument.elements.forEach((e) => checkArgument(tree, e, 's'));
  if (argument.kind === 'map') {
    argument.entries.forEach((entry) => {
      checkArgument(tree, entry.key, 's');
      checkArgument(tree, entry.value, 's');
    });
  }
}
