// The `test` operations of a JSON patch that hold for no stored object, because of how their texts are written.
//
// kube-apiserver compares the text of a value in the patch with what Go's encoder writes for the object: `"a<b"` is not
// `"a\u003cb"`, although both mean the same.
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { quoteJson } from '../../schema/json/quote.js';

/** Whether any text is written as Go's encoder may not do it, found out without reading it all. */
const MAY_DIFFER = /[<>&\\\u2028\u2029]/;

/** Their places among the operations. `json` is a JSON text that has been read as a list of operations. */
export function* unmatchableTests(json: string): StepGenerator<ReadonlySet<number>> {
  if (!json.includes('test') || !MAY_DIFFER.test(json)) return NONE;
  const found = new Set<number>();
  const scan = new Scan(json);
  let yieldAt = SLICE_LENGTH;
  for (let text = scan.nextText(); text !== undefined; text = scan.nextText()) {
    if (scan.at >= yieldAt) {
      yieldAt = scan.at + SLICE_LENGTH;
      yield;
    }
    if (!text.isKey && scan.depth >= OPERATION_DEPTH && scan.member === 'value' && isOdd(text.literal)) {
      found.add(scan.operation);
    }
  }
  return found;
}

const NONE: ReadonlySet<number> = new Set();
/** Some milliseconds. */
const SLICE_LENGTH = 64 * 1024;
/** Of the members of an operation: within it, within the list. */
const OPERATION_DEPTH = 2;

const isOdd = (literal: string): boolean =>
  MAY_DIFFER.test(literal) && literal !== quoteJson(JSON.parse(literal) as string);

interface Text {
  /** With its quotes. */
  readonly literal: string;
  readonly isKey: boolean;
}

/** Goes from text to text, and knows in which operation and which of its members each one is. */
class Scan {
  depth = 0;
  operation = 0;
  member = '';
  #at = 0;
  /** For each container that is open, whether it is an object. */
  readonly #objects: boolean[] = [];
  #keyIsNext = false;

  constructor(readonly json: string) {}

  get at(): number {
    return this.#at;
  }

  nextText(): Text | undefined {
    for (; this.#at < this.json.length; this.#at++) {
      const char = this.json[this.#at];
      if (char === '"') return this.#text();
      if (char === '{' || char === '[') this.#open(char === '{');
      else if (char === '}' || char === ']') this.#close();
      else if (char === ',') this.#comma();
      else if (char === ':') this.#keyIsNext = false;
    }
    return undefined;
  }

  #open(isObject: boolean): void {
    this.#objects.push(isObject);
    this.depth++;
    this.#keyIsNext = isObject;
  }

  #close(): void {
    this.#objects.pop();
    this.depth--;
    this.#keyIsNext = false;
  }

  #comma(): void {
    if (this.depth === OPERATION_DEPTH - 1) this.operation++;
    this.#keyIsNext = this.#objects.at(-1) === true;
  }

  #text(): Text {
    const start = this.#at++;
    while (this.json[this.#at] !== '"') this.#at += this.json[this.#at] === '\\' ? 2 : 1;
    this.#at++;
    const literal = this.json.slice(start, this.#at);
    const isKey = this.#keyIsNext;
    if (isKey && this.depth === OPERATION_DEPTH) this.member = JSON.parse(literal) as string;
    return { literal, isKey };
  }
}
