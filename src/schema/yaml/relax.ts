// Within brackets and quotes kube-apiserver does not look at how far lines are indented, and reads tabs as spaces; our
// parser does. A text that is refused for that is rewritten as the parser needs it:
//
//   data: {          data: {
//   a: "x     →       a: "x
//   y"                y"
//   }                 }
//
// It also ends lines at separators of lines and paragraphs (U+2028, U+2029), which to our parser are characters; within
// quotes both leave them as they are. Only what needs it is rewritten, so that mistakes here are reported by the parser.

export const relaxed = (source: string): string => new Relaxer(source.replaceAll(/\r\n?/g, '\n')).run();

export const hasSeparators = (source: string): boolean => source.includes(LINE_SEPARATOR) || source.includes(PARAGRAPH);

const LINE_SEPARATOR = '\u2028';
const PARAGRAPH = '\u2029';
const isBreak = (char: string | undefined): boolean => char === '\n' || char === LINE_SEPARATOR || char === PARAGRAPH;

/** Deeper than anybody nests: what is indented so far is left alone, for each of its lines would grow by as much. */
const MAX_INDENT = 200;
const MAX_GROWTH = 2;
const ALWAYS_ALLOWED_LENGTH = 65_536;

class Relaxer {
  #at = 0;
  /** The column of the innermost key or dash of the line, which what follows belongs to. */
  #column = 0;
  #copiedTo = 0;
  readonly #pieces: string[] = [];
  #length = 0;
  readonly #most: number;

  constructor(private readonly source: string) {
    this.#most = source.length * MAX_GROWTH + ALWAYS_ALLOWED_LENGTH;
  }

  run(): string {
    while (this.#at < this.source.length) this.#line();
    return this.#pieces.join('') + this.source.slice(this.#copiedTo);
  }

  /** A line that begins outside of brackets and quotes, and what those it opens hold. */
  #line(): void {
    const start = this.#at;
    this.#skip(' ');
    this.#column = this.#at - start;
    let keyColumn = this.#column;
    let isNode = true;
    while (this.#at < this.source.length) {
      const char = this.source[this.#at] as string;
      if (isBreak(char)) {
        this.#break();
        return;
      }
      if (char === '#' && isBlank(this.source[this.#at - 1])) this.#comment();
      else if (isBlank(char)) this.#at++;
      else if (isNode && (char === '"' || char === "'")) {
        this.#quoted(char);
        isNode = false;
      } else if (isNode && (char === '{' || char === '[')) {
        this.#brackets();
        isNode = false;
      } else if (isNode && (char === '|' || char === '>')) {
        this.#blockScalar();
        return;
      } else if (isNode && (char === '!' || char === '&')) this.#word();
      else if ((char === '-' || char === '?' || char === ':') && isBlank(this.source[this.#at + 1])) {
        isNode = true;
        this.#column = char === ':' ? keyColumn : this.#at - start;
        this.#at++;
        this.#skip(' ');
        if (char !== ':') keyColumn = this.#at - start;
      } else {
        isNode = false;
        this.#at++;
      }
    }
  }

  #brackets(): void {
    let depth = 0;
    let isNode = true;
    while (this.#at < this.source.length) {
      const char = this.source[this.#at] as string;
      if (isBreak(char)) {
        this.#lineWithin();
        continue;
      }
      if (char === '#' && isBlank(this.source[this.#at - 1])) {
        this.#comment();
        continue;
      }
      if (isNode && (char === '"' || char === "'")) {
        this.#quoted(char);
        isNode = false;
        continue;
      }
      if (isNode && (char === '!' || char === '&')) {
        this.#word(ENDS_WORD);
        continue;
      }
      if (char === '\t' && isNode) this.#replace(1, ' ');
      else this.#at++;
      if (char === '{' || char === '[') depth++;
      else if (char === '}' || char === ']') depth--;
      if (depth === 0) return;
      if (!isBlank(char)) isNode = OPENS_NODE.has(char);
    }
  }

  /** Up to the quote that ends it. */
  #quoted(quote: string): void {
    this.#at++;
    while (this.#at < this.source.length) {
      const char = this.source[this.#at];
      if (char === '\n') this.#lineWithin();
      else if (char === quote) {
        this.#at++;
        if (quote === '"' || this.source[this.#at] !== quote) return;
        this.#at++;
      } else if (char === '\\' && quote === '"') this.#at += this.source[this.#at + 1] === '\n' ? 1 : 2;
      else this.#at++;
    }
  }

  /** The beginning of a line within brackets or quotes, which is no content. */
  #lineWithin(): void {
    this.#break();
    let end = this.#at;
    while (this.source[end] === ' ' || this.source[end] === '\t') end++;
    const blank = end === this.source.length || this.source[end] === '\n';
    if (blank || DOCUMENT_MARK.test(this.source.slice(this.#at, this.#at + 4))) {
      this.#at = end;
      return;
    }
    const wanted = this.#column + 1;
    const indent = this.source.slice(this.#at, end);
    if (wanted > MAX_INDENT || this.#length > this.#most || (indent.length >= wanted && !indent.includes('\t'))) {
      this.#at = end;
    } else this.#replace(end - this.#at, ' '.repeat(wanted));
  }

  /** The lines of a text are none of ours: those that are blank, or further in than what the text is of. */
  #blockScalar(): void {
    this.#endOfLine();
    while (this.#at < this.source.length) {
      const start = this.#at;
      this.#skip(' ');
      if (!isBreak(this.source[this.#at]) && this.#at - start <= this.#column) {
        this.#at = start;
        return;
      }
      this.#endOfLine();
    }
  }

  #comment(): void {
    while (this.#at < this.source.length && !isBreak(this.source[this.#at])) this.#at++;
  }

  #word(ends: ReadonlySet<string> = NO_ENDS): void {
    for (; this.#at < this.source.length; this.#at++) {
      const char = this.source[this.#at] as string;
      if (isBlank(char) || ends.has(char)) return;
    }
  }

  #endOfLine(): void {
    this.#comment();
    this.#break();
  }

  #break(): void {
    if (this.source[this.#at] === '\n' || this.#at >= this.source.length) this.#at++;
    else this.#replace(1, '\n');
  }

  #skip(char: string): void {
    while (this.source[this.#at] === char) this.#at++;
  }

  #replace(length: number, text: string): void {
    const piece = this.source.slice(this.#copiedTo, this.#at) + text;
    this.#pieces.push(piece);
    this.#length += piece.length;
    this.#at += length;
    this.#copiedTo = this.#at;
  }
}

const NO_ENDS: ReadonlySet<string> = new Set();
const ENDS_WORD: ReadonlySet<string> = new Set([',', '{', '}', '[', ']']);
const OPENS_NODE: ReadonlySet<string> = new Set(['{', '[', ',', ':', '?']);
const DOCUMENT_MARK = /^(?:---|\.\.\.)(?:\s|$)/;

const isBlank = (char: string | undefined): boolean =>
  char === undefined || char === ' ' || char === '\t' || isBreak(char);
