// YAML as kube-apiserver encodes it: sorted keys, two spaces, lists not indented, long lines folded after column 80.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { sortSteps } from '../../lib/scheduling/sort-steps.js';
import { runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import { isPlainString } from './resolve.js';

/** A JSON tree as a YAML document. */
export const encodeYaml = (tree: unknown): string => runSync(yamlSteps(tree));

/** encodeYaml() in steps, for large trees. */
export function* yamlSteps(tree: unknown): StepGenerator<string> {
  const printer = new YamlEncoder();
  yield* printer.node(tree, -step);
  return `${printer.text.replace(/^[ \n]+/, '')}\n`;
}

const step = 2;
const bestWidth = 80;
/** Yields after so many lines. */
const LINES = 64;

class YamlEncoder {
  text = '';
  #column = 0;
  #lines = 0;

  /** A value after its key or dash. `indent` is that of the mapping or list it stands in. */
  *node(value: unknown, indent: number): StepGenerator<void> {
    if (this.#short(value, indent)) return;
    if (Array.isArray(value)) yield* this.#items(value, Math.max(indent, -step) + step);
    else if (isPlainObject(value)) yield* this.#mapping(value, indent + step);
  }

  /** Encodes an empty value; returns whether it was one. Generators cost too much for each leaf of a tree. */
  #short(value: unknown, indent: number): boolean {
    if (Array.isArray(value)) {
      if (value.length > 0) return false;
      this.#put(' []');
    } else if (isPlainObject(value)) {
      for (const _ in value) return false;
      this.#put(' {}');
    } else this.#scalar(value, indent + step);
    return true;
  }

  *#mapping(object: Record<string, unknown>, indent: number): StepGenerator<void> {
    const keys = yield* sortSteps(Object.keys(object), naturally);
    for (const key of keys) {
      this.#line(indent);
      this.#put(`${quoteKey(key)}:`);
      if (!this.#short(object[key], indent)) yield* this.#inner(object[key], indent);
      if (this.#lines % LINES === 0) yield;
    }
  }

  /** A list lies at the indent of the key it belongs to. */
  *#inner(value: unknown, indent: number): StepGenerator<void> {
    if (Array.isArray(value)) yield* this.#items(value, indent);
    else if (isPlainObject(value)) yield* this.#mapping(value, indent + step);
  }

  *#items(items: readonly unknown[], indent: number): StepGenerator<void> {
    for (const item of items) {
      this.#line(indent);
      this.#put('-');
      if (!this.#short(item, indent)) yield* this.#item(item, indent);
      if (this.#lines % LINES === 0) yield;
    }
  }

  /** The first member or item of what stands in a list begins on the dash's own line. */
  *#item(item: unknown, indent: number): StepGenerator<void> {
    if (Array.isArray(item)) {
      for (const [index, inner] of item.entries()) {
        if (index === 0) this.#put(' -');
        else {
          this.#line(indent + step);
          this.#put('-');
        }
        if (!this.#short(inner, indent + step)) yield* this.#item(inner, indent + step);
        if (this.#lines % LINES === 0) yield;
      }
    } else if (isPlainObject(item)) {
      const keys = yield* sortSteps(Object.keys(item), naturally);
      for (const [index, key] of keys.entries()) {
        if (index === 0) this.#put(' ');
        else this.#line(indent + step);
        this.#put(`${quoteKey(key)}:`);
        if (!this.#short(item[key], indent + step)) yield* this.#inner(item[key], indent + step);
        if (this.#lines % LINES === 0) yield;
      }
    }
  }

  #scalar(value: unknown, indent: number): void {
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
      return this.#put(` ${value}`);
    if (typeof value !== 'string') return this.#put(' null');
    const shape = shapeOf(value);
    if (value.includes('\n')) {
      if (shape.literal) return this.#literal(value, indent);
      return this.#doubleQuoted(value, indent);
    }
    if (!isPlainString(value)) return this.#doubleQuoted(value, indent);
    if (shape.plain) return this.#folded(value, '', indent);
    if (shape.singleQuoted) return this.#folded(value.replaceAll("'", "''"), "'", indent);
    this.#doubleQuoted(value, indent);
  }

  /** Breaks at a single space once the line is full. */
  #folded(text: string, quote: string, indent: number): void {
    // hot: most texts are one word.
    if (!text.includes(' ')) return this.#put(` ${quote}${text}${quote}`);
    this.#put(` ${quote}`);
    const words = text.split(' ');
    words.forEach((word, index) => {
      if (index > 0) {
        const between = words[index - 1] !== '' && word !== '';
        if (between && this.#column > bestWidth) this.#line(Math.max(indent, step));
        else this.#put(' ');
      }
      this.#put(word);
    });
    this.#put(quote);
  }

  #doubleQuoted(text: string, indent: number): void {
    this.#put(' "');
    const characters = Array.from(text);
    characters.forEach((letter, index) => {
      const folds =
        letter === ' ' &&
        this.#column > bestWidth &&
        index > 0 &&
        index < characters.length - 1 &&
        characters[index - 1] !== ' ';
      if (folds) {
        this.#line(Math.max(indent, step));
        if (characters[index + 1] === ' ') this.#put('\\');
      } else this.#put(escape(letter));
    });
    this.#put('"');
  }

  #literal(text: string, indent: number): void {
    const hint = /^[ \n]/.test(text) ? String(step) : '';
    const chomping = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : '';
    this.#put(` |${hint}${chomping}`);
    const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
    for (const line of lines) {
      if (line === '') this.text += '\n';
      else {
        this.#line(Math.max(indent, step));
        this.#put(line);
      }
    }
  }

  #line(indent: number): void {
    this.text += `\n${' '.repeat(indent)}`;
    this.#column = indent;
    this.#lines++;
  }

  #put(text: string): void {
    this.text += text;
    this.#column += text.length;
  }
}

function quoteKey(key: string): string {
  const shape = shapeOf(key);
  if (!isPlainString(key) || key.includes('\n')) return `"${Array.from(key).map(escape).join('')}"`;
  if (shape.plain) return key;
  return shape.singleQuoted ? `'${key.replaceAll("'", "''")}'` : `"${Array.from(key).map(escape).join('')}"`;
}

interface Shape {
  readonly plain: boolean;
  readonly singleQuoted: boolean;
  readonly literal: boolean;
}

const NAME = /^[A-Za-z0-9][\w./:-]*$/;
const ANY_STYLE: Shape = { plain: true, singleQuoted: true, literal: true };

/** Which styles can hold the text without changing it. */
function shapeOf(text: string): Shape {
  // hot: names are, and most texts are names.
  if (NAME.test(text) && !text.endsWith(':')) return ANY_STYLE;
  // Tabs, other control characters and characters of four bytes only live in double quotes.
  const unprintable = /[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u.test(text);
  const spaceBeforeBreak = text.includes(' \n');
  if (unprintable || spaceBeforeBreak) return { plain: false, singleQuoted: false, literal: false };
  const outer = /^ | $/.test(text);
  const indicator =
    /^(---|\.\.\.)/.test(text) ||
    /^[#,[\]{}&*!|>'"%@`]/.test(text) ||
    /^[-?:]( |\n|$)/.test(text) ||
    /:( |\n|$)/.test(text) ||
    /[ \n]#/.test(text);
  return { plain: !outer && !indicator, singleQuoted: !text.includes('\n '), literal: !text.endsWith(' ') };
}

const escapes: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\x85': '\\N',
  '\xa0': '\\_',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

function escape(letter: string): string {
  const known = escapes[letter];
  if (known !== undefined) return known;
  const code = letter.codePointAt(0) ?? 0;
  if ((code >= 0x20 && code <= 0x7e) || (code >= 0xa0 && code <= 0xffff && code !== 0xfeff && !/\p{Cs}/u.test(letter)))
    return letter;
  if (code > 0xffff) return `\\U${code.toString(16).toUpperCase().padStart(8, '0')}`;
  if (code < 0x100) return `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`;
  return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Numbers inside keys count as numbers, and letters come after everything else. */
// hot: an object of a megabyte has a hundred thousand keys, each of which is compared with some twenty others.
function naturally(left: string, right: string): number {
  const at = firstDifference(left, right);
  if (at === left.length || at === right.length) return left.length - right.length;
  const x = left.codePointAt(at) ?? 0;
  const y = right.codePointAt(at) ?? 0;
  const xIsLetter = isLetter(x);
  const yIsLetter = isLetter(y);
  if (xIsLetter && yIsLetter) return compareCharacters(x, y);
  if (xIsLetter || yIsLetter) return yIsLetter ? -1 : 1;
  return compareNumbers(left, right, at) || compareCharacters(x, y);
}

/** Where the first character that differs begins. */
function firstDifference(left: string, right: string): number {
  const end = Math.min(left.length, right.length);
  let at = 0;
  while (at < end && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  // Two characters may share the first half of their surrogate pairs.
  return at > 0 && at < end && ((left.codePointAt(at - 1) ?? 0) > 0xffff || (right.codePointAt(at - 1) ?? 0) > 0xffff)
    ? at - 1
    : at;
}

const isLetter = (code: number): boolean =>
  code < 0x80
    ? (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
    : LETTER.test(String.fromCodePoint(code));

const LETTER = /\p{L}/u;

/** By UTF-16, as strings are compared. */
function compareCharacters(x: number, y: number): number {
  if (x <= 0xffff && y <= 0xffff) return x - y;
  return String.fromCodePoint(x) < String.fromCodePoint(y) ? -1 : 1;
}

function compareNumbers(left: string, right: string, at: number): number {
  // Behind a digit that is not zero, a zero is part of a number and not its start.
  let lead = 0;
  if (left.charCodeAt(at) === ZERO || right.charCodeAt(at) === ZERO) {
    for (let i = at - 1; i >= 0 && isDigit(left.charCodeAt(i)); i--) {
      if (left.charCodeAt(i) !== ZERO) {
        lead = 1;
        break;
      }
    }
  }
  const leftEnd = digitsEnd(left, at);
  const rightEnd = digitsEnd(right, at);
  const difference = numberIn(left, at, leftEnd, lead) - numberIn(right, at, rightEnd, lead);
  return difference !== 0 ? difference : leftEnd - rightEnd;
}

function digitsEnd(text: string, at: number): number {
  let end = at;
  while (isDigit(text.charCodeAt(end))) end++;
  return end;
}

/** With so many digits numbers are exact. */
const EXACT_DIGITS = 14;

function numberIn(text: string, at: number, end: number, lead: number): number {
  if (end - at > EXACT_DIGITS) return Number(`${lead}${text.slice(at, end)}`);
  let value = lead;
  for (let i = at; i < end; i++) value = value * 10 + text.charCodeAt(i) - ZERO;
  return value;
}

const ZERO = 0x30;
const isDigit = (code: number): boolean => code >= ZERO && code <= 0x39;
