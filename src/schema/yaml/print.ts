// YAML as the reference prints it: sorted keys, two spaces, lists not indented, long lines folded after column 80.
import { isPlainObject } from '../../lib/plain-object.js';
import { isPlainString } from './resolve.js';

/** A JSON tree as a YAML document. */
export function printYaml(tree: unknown): string {
  const printer = new Printer();
  printer.node(tree, -step);
  return `${printer.text.replace(/^[ \n]+/, '')}\n`;
}

const step = 2;
const bestWidth = 80;

class Printer {
  text = '';
  #column = 0;

  /** A value after its key or dash. `indent` is that of the mapping or list it stands in. */
  node(value: unknown, indent: number): void {
    if (Array.isArray(value)) this.#list(value, indent);
    else if (isPlainObject(value)) this.#mapping(value, indent + step);
    else this.#scalar(value, indent + step);
  }

  #mapping(object: Record<string, unknown>, indent: number): void {
    const keys = Object.keys(object).sort(naturally);
    if (keys.length === 0) return this.#put(' {}');
    for (const key of keys) {
      this.#line(indent);
      this.#member(key, object[key], indent);
    }
  }

  #member(key: string, value: unknown, indent: number): void {
    this.#put(quoteKey(key));
    this.#put(':');
    // A list lies at the indent of the key it belongs to.
    if (Array.isArray(value) && value.length > 0) this.#items(value, indent);
    else this.node(value, indent);
  }

  #list(items: readonly unknown[], indent: number): void {
    if (items.length === 0) this.#put(' []');
    else this.#items(items, Math.max(indent, -step) + step);
  }

  #items(items: readonly unknown[], indent: number): void {
    for (const item of items) {
      this.#line(indent);
      this.#put('-');
      this.#item(item, indent);
    }
  }

  /** The first member or item of what stands in a list begins on the dash's own line. */
  #item(item: unknown, indent: number): void {
    if (Array.isArray(item) && item.length > 0) {
      item.forEach((inner, index) => {
        if (index === 0) this.#put(' -');
        else {
          this.#line(indent + step);
          this.#put('-');
        }
        this.#item(inner, indent + step);
      });
    } else if (isPlainObject(item) && Object.keys(item).length > 0) {
      const keys = Object.keys(item).sort(naturally);
      keys.forEach((key, index) => {
        if (index === 0) this.#put(' ');
        else this.#line(indent + step);
        this.#member(key, item[key], indent + step);
      });
    } else this.node(item, indent);
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
    const letters = Array.from(text);
    letters.forEach((letter, index) => {
      const folds =
        letter === ' ' &&
        this.#column > bestWidth &&
        index > 0 &&
        index < letters.length - 1 &&
        letters[index - 1] !== ' ';
      if (folds) {
        this.#line(Math.max(indent, step));
        if (letters[index + 1] === ' ') this.#put('\\');
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

/** Which styles can hold the text without changing it. */
function shapeOf(text: string): { plain: boolean; singleQuoted: boolean; literal: boolean } {
  // Tabs and other control characters only live in double quotes.
  const unprintable = /[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u.test(text);
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
  if ((code >= 0x20 && code <= 0x7e) || (code >= 0xa0 && code !== 0xfeff && !/\p{Cs}/u.test(letter))) return letter;
  if (code < 0x100) return `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`;
  return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Numbers inside keys count as numbers, and letters come after everything else. */
function naturally(left: string, right: string): number {
  const a = Array.from(left);
  const b = Array.from(right);
  for (let i = 0; i < a.length && i < b.length; i++) {
    const x = a[i] ?? '';
    const y = b[i] ?? '';
    if (x === y) continue;
    const xIsLetter = /\p{L}/u.test(x);
    const yIsLetter = /\p{L}/u.test(y);
    if (xIsLetter && yIsLetter) return x < y ? -1 : 1;
    if (xIsLetter || yIsLetter) return yIsLetter ? -1 : 1;
    return compareNumbers(a, b, i) || (x < y ? -1 : 1);
  }
  return a.length - b.length;
}

function compareNumbers(a: readonly string[], b: readonly string[], at: number): number {
  // Behind a digit that is not zero, a zero is part of a number and not its start.
  let lead = '';
  if (a[at] === '0' || b[at] === '0') {
    for (let i = at - 1; i >= 0 && isDigit(a[i]); i--) {
      if (a[i] !== '0') {
        lead = '1';
        break;
      }
    }
  }
  const x = digitsFrom(a, at);
  const y = digitsFrom(b, at);
  const difference = Number(`${lead}${x}` || '0') - Number(`${lead}${y}` || '0');
  return difference !== 0 ? difference : x.length - y.length;
}

function digitsFrom(letters: readonly string[], at: number): string {
  let end = at;
  while (isDigit(letters[end])) end++;
  return letters.slice(at, end).join('');
}

const isDigit = (letter: string | undefined): boolean => letter !== undefined && letter >= '0' && letter <= '9';
