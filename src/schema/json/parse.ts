// The exact parser: Go's words for malformed text, numbers as they were written, and every member of an object that
// names a key twice. Slower than JSON.parse, so it runs only after scanJson or a failure calls for it.
import { FloatLiteral } from '../../lib/json/float-literal.js';
import { goQuote } from '../../lib/go/quote.js';
import { setMember } from '../../lib/values/plain-object.js';
import { noteWholeFloat } from '../../lib/json/whole-floats.js';

export class JsonSyntaxError extends Error {}

export interface ParsedJson {
  readonly value: unknown;
  /** Of each object that names a key more than once: all its members in the order of the text. */
  readonly repeated: ReadonlyMap<object, readonly (readonly [key: string, value: unknown])[]>;
}

export interface ParseOptions {
  /** Return fractions and exponents as FloatLiteral rather than number. */
  readonly keepFloats?: boolean;
  /** Note which whole numbers were written as those. */
  readonly noteFloats?: boolean;
}

/**
 * Objects and lists within each other. kube-apiserver accepts 10,000; here all that walks a tree lives on a stack that is
 * smaller, and grows by no means but a flag of Node's. Patches and the noting of who owns what end first, at about 1,000
 * while their code is still cold, then YAML. What was accepted must be readable again, so the limit is half of that.
 */
export const maxJsonDepth = 500;

export function parseExactJson(text: string, options: ParseOptions = {}): ParsedJson {
  const parser = new Parser(text, options.keepFloats === true, options.noteFloats === true);
  return { value: parser.document(), repeated: parser.repeated };
}

type Container =
  | { readonly list: unknown[] }
  | { readonly object: Record<string, unknown>; entries: [string, unknown][]; seen: Set<string>; key: string };

class Parser {
  readonly repeated = new Map<object, [string, unknown][]>();
  #at = 0;
  /** The number that was read last is a whole one, and was written as a float. */
  #wholeFloat = false;

  constructor(
    readonly text: string,
    readonly keepFloats: boolean,
    readonly noteFloats: boolean,
  ) {}

  /** Iterative, so that deep nesting costs memory in proportion and no stack. */
  document(): unknown {
    const stack: Container[] = [];
    for (;;) {
      let value = this.#start(stack);
      if (value === opened) continue;
      // The value is complete: hand it to its container, and close containers as their brackets come.
      for (;;) {
        const top = stack.at(-1);
        if (top === undefined) {
          this.#space();
          if (this.#at < this.text.length) this.#fail('after top-level value');
          return value;
        }
        if (this.noteFloats) this.#note(top);
        if ('list' in top) top.list.push(value);
        else this.#member(top, value);
        if (!this.#closes(top)) break;
        stack.pop();
        value = 'list' in top ? top.list : this.#finished(top);
      }
    }
  }

  /** Reads a scalar, or opens a container and returns the mark for that; an empty container is a value at once. */
  #start(stack: Container[]): unknown {
    this.#space();
    const char = this.text[this.#at];
    if (char === undefined) throw new JsonSyntaxError('unexpected end of JSON input');
    if (char === '{' || char === '[') {
      this.#at++;
      if (stack.length >= maxJsonDepth) throw new JsonSyntaxError('exceeded max depth');
      this.#space();
      if (this.text[this.#at] === (char === '{' ? '}' : ']')) {
        this.#at++;
        return char === '{' ? {} : [];
      }
      if (char === '[') stack.push({ list: [] });
      else {
        const container = { object: {}, entries: [], seen: new Set<string>(), key: '' };
        stack.push(container);
        container.key = this.#key('looking for beginning of object key string');
      }
      return opened;
    }
    if (char === '"') return this.#string();
    if (char === '-' || (char >= '0' && char <= '9')) return this.#number();
    for (const [word, value] of literals) if (char === word[0]) return this.#literal(word, value);
    return this.#fail('looking for beginning of value');
  }

  #note(top: Container): void {
    if ('list' in top) noteWholeFloat(top.list, String(top.list.length), this.#wholeFloat);
    else noteWholeFloat(top.object, top.key, this.#wholeFloat);
    this.#wholeFloat = false;
  }

  #member(top: Exclude<Container, { list: unknown[] }>, value: unknown): void {
    top.entries.push([top.key, value]);
    top.seen.add(top.key);
    setMember(top.object, top.key, value);
  }

  #finished(top: Exclude<Container, { list: unknown[] }>): object {
    if (top.seen.size < top.entries.length) this.repeated.set(top.object, top.entries);
    return top.object;
  }

  /** After a member or an element: whether the container closes here. */
  #closes(top: Container): boolean {
    this.#space();
    const char = this.text[this.#at];
    const isList = 'list' in top;
    if (char === ',') {
      this.#at++;
      if (!isList) {
        this.#space();
        top.key = this.#key('looking for beginning of object key string');
      }
      return false;
    }
    if (char === (isList ? ']' : '}')) {
      this.#at++;
      return true;
    }
    return this.#fail(isList ? 'after array element' : 'after object key:value pair');
  }

  #key(context: string): string {
    if (this.text[this.#at] !== '"') this.#fail(context);
    const key = this.#string();
    this.#space();
    if (this.text[this.#at] !== ':') this.#fail('after object key');
    this.#at++;
    return key;
  }

  #string(): string {
    const start = this.#at;
    let i = start + 1;
    for (;;) {
      const code = this.text.charCodeAt(i);
      if (Number.isNaN(code)) throw new JsonSyntaxError('unexpected end of JSON input');
      if (code === 0x22) break;
      if (code < 0x20) {
        this.#at = i;
        this.#fail('in string literal');
      }
      if (code === 0x5c) i = this.#escape(i + 1);
      else i++;
    }
    this.#at = i + 1;
    return String(JSON.parse(this.text.slice(start, i + 1)));
  }

  #escape(at: number): number {
    const char = this.text[at];
    if (char === undefined) throw new JsonSyntaxError('unexpected end of JSON input');
    if ('"\\/bfnrt'.includes(char)) return at + 1;
    this.#at = at;
    if (char !== 'u') this.#fail('in string escape code');
    for (let i = at + 1; i < at + 5; i++) {
      this.#at = i;
      const digit = this.text[i];
      if (digit === undefined) throw new JsonSyntaxError('unexpected end of JSON input');
      if (!/[0-9a-fA-F]/.test(digit)) this.#fail('in \\u hexadecimal character escape');
    }
    return at + 5;
  }

  #number(): unknown {
    const start = this.#at;
    if (this.text[this.#at] === '-') {
      this.#at++;
      if (!isDigit(this.text[this.#at])) this.#fail('in numeric literal');
    }
    if (this.text[this.#at] === '0') this.#at++;
    else this.#digits();
    let isFloat = false;
    if (this.text[this.#at] === '.') {
      isFloat = true;
      this.#at++;
      if (!isDigit(this.text[this.#at])) this.#fail('after decimal point in numeric literal');
      this.#digits();
    }
    if (this.text[this.#at] === 'e' || this.text[this.#at] === 'E') {
      isFloat = true;
      this.#at++;
      if (this.text[this.#at] === '+' || this.text[this.#at] === '-') this.#at++;
      if (!isDigit(this.text[this.#at])) this.#fail('in exponent of numeric literal');
      this.#digits();
    }
    return this.#numberValue(this.text.slice(start, this.#at), isFloat);
  }

  #numberValue(literal: string, isFloat: boolean): unknown {
    const value = Number(literal);
    if (isFloat) {
      if (this.keepFloats) return new FloatLiteral(value, literal);
      if (!Number.isFinite(value)) {
        throw new JsonSyntaxError(`json: cannot unmarshal number ${literal} into Go value of type float64`);
      }
      this.#wholeFloat = Number.isSafeInteger(value);
      return value;
    }
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    if (literal.length <= 20) {
      const exact = BigInt(literal);
      if (exact === BigInt.asIntN(64, exact)) return exact;
    }
    return this.keepFloats ? new FloatLiteral(value, literal) : value;
  }

  #digits(): void {
    while (isDigit(this.text[this.#at])) this.#at++;
  }

  #literal(word: string, value: unknown): unknown {
    for (let i = 0; i < word.length; i++) {
      if (this.text[this.#at] !== word[i]) this.#fail(`in literal ${word} (expecting ${goQuoteChar(word[i] ?? '')})`);
      this.#at++;
    }
    return value;
  }

  #space(): void {
    while (spaces.has(this.text[this.#at] ?? '')) this.#at++;
  }

  #fail(context: string): never {
    const char = this.text[this.#at];
    if (char === undefined) throw new JsonSyntaxError('unexpected end of JSON input');
    throw new JsonSyntaxError(`invalid character ${goQuoteChar(char)} ${context}`);
  }
}

const opened = Symbol('opened');
const spaces = new Set([' ', '\n', '\r', '\t']);
const literals: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];
const isDigit = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '9';

function goQuoteChar(char: string): string {
  if (char === "'") return "'\\''";
  if (char === '"') return `'"'`;
  return `'${goQuote(char).slice(1, -1)}'`;
}
