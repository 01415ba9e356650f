// The text of an expression, and errors as kube-apiserver formats them: with the line they are in and a caret below.

export interface Location {
  /** From 1. */
  readonly line: number;
  /** In characters, from 0. */
  readonly column: number;
}

/** Where an error stands that is about no place. */
export const NOWHERE: Location = { line: -1, column: -1 };

export class Source {
  private readonly lines: readonly string[];
  /** Where each line begins. */
  private readonly starts: readonly number[];
  /** How many characters stand before each unit; undefined while a unit is a character. */
  private readonly before: Uint32Array | undefined;

  constructor(readonly text: string) {
    this.lines = text.split('\n');
    let start = 0;
    this.starts = this.lines.map(({ length }) => (start += length + 1) - length - 1);
    this.before = /[\ud800-\udfff]/.test(text) ? charactersBefore(text) : undefined;
  }

  /** The place of an offset in UTF-16 units. */
  locate(offset: number): Location {
    // The end of nothing stands before the first character, as kube-apiserver counts.
    if (this.text === '') return { line: 1, column: -1 };
    let line = 0;
    for (let high = this.starts.length - 1; line < high;) {
      const middle = Math.ceil((line + high) / 2);
      if ((this.starts[middle] ?? 0) <= offset) line = middle;
      else high = middle - 1;
    }
    return { line: line + 1, column: this.charactersAt(offset) - this.charactersAt(this.starts[line] ?? 0) };
  }

  private charactersAt(offset: number): number {
    return this.before?.[Math.min(offset, this.text.length)] ?? Math.min(offset, this.text.length);
  }

  line(number: number): string | undefined {
    return number < 1 || this.text === '' ? undefined : this.lines[number - 1];
  }
}

export interface Mistake {
  readonly location: Location;
  readonly message: string;
}

const MAX_MISTAKES = 100;
const MAX_SNIPPET_BYTES = 16_384;

/** Errors of one expression, in the order they were found. */
export class Mistakes {
  private readonly found: Mistake[] = [];
  private count = 0;

  constructor(private readonly source: Source) {}

  get any(): boolean {
    return this.count > 0;
  }

  report(location: Location, message: string): void {
    this.count++;
    if (this.count <= MAX_MISTAKES) this.found.push({ location, message });
  }

  /** All of them, by place. */
  toString(): string {
    const sorted = this.found.toSorted(
      (a, b) => a.location.line - b.location.line || a.location.column - b.location.column,
    );
    const blocks = sorted.map((mistake) => display(mistake, this.source));
    if (this.count > MAX_MISTAKES) blocks.push(`${this.count - MAX_MISTAKES} more errors were truncated`);
    return blocks.join('\n');
  }
}

function display({ location, message }: Mistake, source: Source): string {
  const head = `ERROR: <input>:${location.line}:${location.column + 1}: ${message}`;
  const line = source.line(location.line);
  if (line === undefined || Buffer.byteLength(line) > MAX_SNIPPET_BYTES) return head;
  const snippet = line.replaceAll('\t', ' ');
  const before = Array.from(snippet);
  const at = before[location.column] ?? '';
  // Characters beyond ASCII are as wide as two, so their marks are the wide forms.
  const dots = before.slice(0, location.column).map((c) => (c > '\u007f' ? '\uff0e' : '.'));
  return `${head}\n | ${snippet}\n | ${dots.join('')}${at > '\u007f' ? '\uff3e' : '^'}`;
}

function charactersBefore(text: string): Uint32Array {
  const before = new Uint32Array(text.length + 1);
  let at = 0;
  let count = 0;
  for (const character of text) {
    for (let unit = 0; unit < character.length; unit++) before[at++] = count + unit;
    count++;
  }
  before[at] = count;
  return before;
}

/** How many characters (code points) a text has. */
export function characters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = text.charCodeAt(i + 1);
      if (next >= 0xdc00 && next < 0xe000) {
        count--;
        i++;
      }
    }
  }
  return count;
}
