// Text to tokens, by the rules of the language's grammar: the longest match wins, then the rule that is named first.

export type TokenType =
  | 'IDENTIFIER'
  | 'ESC_IDENTIFIER'
  | 'NUM_INT'
  | 'NUM_UINT'
  | 'NUM_FLOAT'
  | 'STRING'
  | 'BYTES'
  | 'EOF'
  | 'true'
  | 'false'
  | 'null'
  | 'in'
  | Punctuation;

export type Punctuation = (typeof PUNCTUATION)[number];

// prettier-ignore
const PUNCTUATION = [
  '==', '!=', '<=', '>=', '&&', '||', '<', '>', '[', ']', '{', '}', '(', ')', '.', ',', '-', '!', '?', ':', '+', '*', '/', '%',
] as const;

export interface Token {
  readonly type: TokenType;
  readonly text: string;
  /** In UTF-16 units. */
  readonly start: number;
}

/** Text that no rule matches. */
export interface LexicalMistake {
  readonly start: number;
  readonly text: string;
}

export interface Lexed {
  readonly tokens: readonly Token[];
  readonly mistakes: readonly LexicalMistake[];
}

export function tokenize(text: string): Lexed {
  const tokens: Token[] = [];
  const mistakes: LexicalMistake[] = [];
  let at = 0;
  while (at < text.length) {
    BLANK.lastIndex = at;
    if (BLANK.test(text)) {
      at = BLANK.lastIndex;
      continue;
    }
    const token = tokenAt(text, at);
    if (token === undefined) {
      const bad = unmatched(text, at);
      mistakes.push({ start: at, text: bad });
      at += bad.length;
      continue;
    }
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ type: 'EOF', text: '<EOF>', start: text.length });
  return { tokens, mistakes };
}

const BLANK = /(?:[\t \r\n\f]+|\/\/[^\n]*)/y;
const WORD = /[a-zA-Z_][a-zA-Z_0-9]*/y;
const QUOTED_WORD = /`[a-zA-Z0-9_.\-/ ]+`/y;
const FLOAT = /(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)/y;
const UINT = /(?:0x[0-9a-fA-F]+|[0-9]+)[uU]/y;
const INTEGER = /(?:0x[0-9a-fA-F]+|[0-9]+)/y;
const ESCAPE = /\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])/y;
const KEYWORDS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in']);

function tokenAt(text: string, start: number): Token | undefined {
  const first = text.charCodeAt(start);
  const string = stringAt(text, start);
  if (string !== undefined) return string;
  if (first === 0x60) {
    const word = match(QUOTED_WORD, text, start);
    return word === undefined ? undefined : { type: 'ESC_IDENTIFIER', text: word, start };
  }
  const word = match(WORD, text, start);
  if (word !== undefined) {
    return { type: KEYWORDS.has(word) ? (word as TokenType) : 'IDENTIFIER', text: word, start };
  }
  const number = numberAt(text, start);
  if (number !== undefined) return number;
  for (const sign of PUNCTUATION) {
    if (text.startsWith(sign, start)) return { type: sign, text: sign, start };
  }
  return undefined;
}

function numberAt(text: string, start: number): Token | undefined {
  let best: Token | undefined;
  const candidates = [
    ['NUM_FLOAT', FLOAT],
    ['NUM_INT', INTEGER],
    ['NUM_UINT', UINT],
  ] as const;
  for (const [type, pattern] of candidates) {
    const found = match(pattern, text, start);
    if (found !== undefined && found.length > (best?.text.length ?? 0)) best = { type, text: found, start };
  }
  return best;
}

/** A string or bytes literal with its prefixes: r, R, b, B and both. */
function stringAt(text: string, start: number): Token | undefined {
  const literal = literalAt(text, start);
  if (literal === undefined) return undefined;
  // Both forms are tried, because the longest match counts: `''''''` is one string, not two.
  const ends = literal.forms.filter(({ closed }) => closed).map(({ end }) => end);
  if (ends.length === 0) return undefined;
  const type = /^[bB]/.test(literal.prefix) ? 'BYTES' : 'STRING';
  return {
    type,
    text: text.slice(
      start,
      ends.reduce((a, b) => Math.max(a, b)),
    ),
    start,
  };
}

/** A text in quotes, as far as it can be read: to its closing quotes, or to what cannot be part of it. */
interface Quoted {
  readonly end: number;
  readonly closed: boolean;
}

interface Literal {
  readonly prefix: string;
  readonly raw: boolean;
  readonly forms: readonly Quoted[];
}

function literalAt(text: string, start: number): Literal | undefined {
  const prefix = match(PREFIX, text, start) ?? '';
  const at = start + prefix.length;
  const quote = text[at];
  if (quote !== '"' && quote !== "'") return undefined;
  const raw = /[rR]$/.test(prefix);
  const forms = [quote, quote.repeat(3)].flatMap((mark) => readQuoted(text, at, mark, raw) ?? []);
  return { prefix, raw, forms };
}

const PREFIX = /[bB]?[rR]?/y;

function readQuoted(text: string, start: number, mark: string, raw: boolean): Quoted | undefined {
  if (!text.startsWith(mark, start)) return undefined;
  let at = start + mark.length;
  while (at < text.length) {
    if (text.startsWith(mark, at)) return { end: at + mark.length, closed: true };
    const letter = text[at];
    if (mark.length === 1 && (letter === '\n' || letter === '\r')) break;
    const escape = letter === '\\' && !raw ? match(ESCAPE, text, at) : letter;
    if (escape === undefined) break;
    at += escape.length;
  }
  return { end: at, closed: false };
}

function match(pattern: RegExp, text: string, start: number): string | undefined {
  pattern.lastIndex = start;
  return pattern.exec(text)?.[0];
}

const OPEN_WORD = /`[a-zA-Z0-9_.\-/ ]*/y;
const PARTIAL_ESCAPE = /\\(?:[xX][0-9a-fA-F]{0,1}|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]{0,1})?/y;

/** The text up to and with the character at which no rule could go on, which is what the error quotes. */
function unmatched(text: string, start: number): string {
  let end = start + (match(OPEN_WORD, text, start)?.length ?? 0);
  const literal = literalAt(text, start);
  for (const form of literal?.forms ?? []) {
    const escape = literal?.raw === true ? undefined : match(PARTIAL_ESCAPE, text, form.end);
    end = Math.max(end, form.end + (escape?.length ?? 0));
  }
  if (end === start && (text[start] === '&' || text[start] === '|' || text[start] === '=')) end = start + 1;
  const culprit = String.fromCodePoint(text.codePointAt(end) ?? 0);
  return text.slice(start, end) + (end < text.length ? culprit : '');
}
