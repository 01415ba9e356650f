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
const ESCAPE =
  String.raw`\\(?:[abfnrtv"'\\?` +
  '`' +
  String.raw`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])`;
// Each string form is tried on its own, because the longest match counts: `''''''` is one string, not two.
const PLAIN_STRINGS = [
  new RegExp(`"(?:${ESCAPE}|[^\\\\"\\n\\r])*"`, 'y'),
  new RegExp(`'(?:${ESCAPE}|[^\\\\'\\n\\r])*'`, 'y'),
  new RegExp(`"""(?:${ESCAPE}|[^\\\\])*?"""`, 'y'),
  new RegExp(`'''(?:${ESCAPE}|[^\\\\])*?'''`, 'y'),
];
const RAW_STRINGS = [/"[^"\n\r]*"/y, /'[^'\n\r]*'/y, /"""[\s\S]*?"""/y, /'''[\s\S]*?'''/y];
const KEYWORDS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in']);

function tokenAt(text: string, start: number): Token | undefined {
  const first = text.charCodeAt(start);
  const string = stringAt(text, start, first);
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
function stringAt(text: string, start: number, first: number): Token | undefined {
  if (first === 0x22 || first === 0x27) return quotedAt(text, start, start, PLAIN_STRINGS, 'STRING');
  const prefix = /[bB]?[rR]?(?=["'])/y;
  prefix.lastIndex = start;
  const letters = prefix.exec(text)?.[0] ?? '';
  if (letters === '') return undefined;
  const raw = /[rR]$/.test(letters);
  const type = /^[bB]/.test(letters) ? 'BYTES' : 'STRING';
  return quotedAt(text, start, start + letters.length, raw ? RAW_STRINGS : PLAIN_STRINGS, type);
}

function quotedAt(
  text: string,
  start: number,
  quote: number,
  forms: readonly RegExp[],
  type: 'STRING' | 'BYTES',
): Token | undefined {
  let longest = '';
  for (const form of forms) {
    const found = match(form, text, quote);
    if (found !== undefined && found.length > longest.length) longest = found;
  }
  return longest === '' ? undefined : { type, text: text.slice(start, quote) + longest, start };
}

function match(pattern: RegExp, text: string, start: number): string | undefined {
  pattern.lastIndex = start;
  return pattern.exec(text)?.[0];
}

// How far the lexer reads before it gives up on a text, which is what the error quotes.
const OPEN_FORMS = [
  new RegExp(`[bB]?"""(?:${ESCAPE}|[^\\\\])*`, 'y'),
  new RegExp(`[bB]?'''(?:${ESCAPE}|[^\\\\])*`, 'y'),
  /[bB]?[rR]"""[\s\S]*/y,
  /[bB]?[rR]'''[\s\S]*/y,
  new RegExp(`[bB]?"(?:${ESCAPE}|[^\\\\"\\n\\r])*`, 'y'),
  new RegExp(`[bB]?'(?:${ESCAPE}|[^\\\\'\\n\\r])*`, 'y'),
  /[bB]?[rR]"[^"\n\r]*/y,
  /[bB]?[rR]'[^'\n\r]*/y,
  /`[a-zA-Z0-9_.\-/ ]*/y,
];
const PARTIAL_ESCAPE = /\\(?:[xX][0-9a-fA-F]{0,1}|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]{0,1})?/y;

/** The text up to and with the character at which no rule could go on. */
function unmatched(text: string, start: number): string {
  let end = start;
  for (const form of OPEN_FORMS) {
    const found = match(form, text, start);
    if (found === undefined || found.length === 0) continue;
    let reach = start + found.length;
    if (!/[rR]["']|^`/.test(found.slice(0, 3))) reach += match(PARTIAL_ESCAPE, text, reach)?.length ?? 0;
    end = Math.max(end, reach);
  }
  if (end === start && (text[start] === '&' || text[start] === '|' || text[start] === '=')) end = start + 1;
  const culprit = String.fromCodePoint(text.codePointAt(end) ?? 0);
  return text.slice(start, end) + (end < text.length ? culprit : '');
}
