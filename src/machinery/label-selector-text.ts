// The text form of label selectors, as `?labelSelector=` has it.
import { fieldErrorText } from './field-error.js';
import {
  checkKey,
  type LabelOperator,
  type LabelRequirement,
  newRequirement,
  SelectorError,
} from './label-requirement.js';

/** Throws SelectorError. */
export const parseRequirements = (text: string): LabelRequirement[] => new Parser(scan(text)).requirements();

type TokenKind =
  | 'error'
  | 'end'
  | 'identifier'
  | ')'
  | ','
  | '!'
  | '=='
  | '='
  | '>'
  | 'in'
  | '<'
  | '!='
  | 'notin'
  | '(';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const SYMBOLS: ReadonlySet<string> = new Set(['=', '!', '(', ')', ',', '>', '<']);
const SYMBOL_TOKENS: ReadonlySet<string> = new Set([')', ',', '!', '==', '=', '>', '<', '!=', '(']);
const BLANKS: ReadonlySet<string> = new Set([' ', '\t', '\r', '\n']);

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text[at] as string;
    if (BLANKS.has(char)) {
      at++;
      continue;
    }
    if (SYMBOLS.has(char)) {
      // Every symbol is a token by itself; only `==` and `!=` are longer.
      const pair = text.slice(at, at + 2);
      const symbol = pair.length === 2 && SYMBOL_TOKENS.has(pair) ? pair : char;
      tokens.push({ kind: symbol as TokenKind, text: symbol });
      at += symbol.length;
      continue;
    }
    const start = at;
    while (at < text.length && !SYMBOLS.has(text[at] as string) && !BLANKS.has(text[at] as string)) at++;
    const word = text.slice(start, at);
    tokens.push({ kind: word === 'in' || word === 'notin' ? word : 'identifier', text: word });
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

const OPERATOR_OF: Partial<Record<TokenKind, LabelOperator>> = {
  in: 'in',
  '=': '=',
  '==': '==',
  '>': 'gt',
  '<': 'lt',
  notin: 'notin',
  '!=': '!=',
};

/** Keys and values may be the words `in` and `notin`; only in an operator's place are they operators. */
class Parser {
  private position = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  requirements(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const { kind, text } = this.peek();
      if (kind === 'end') return requirements;
      if (kind !== 'identifier' && kind !== '!') {
        throw new SelectorError(`found '${text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.requirement());
      const next = this.take();
      if (next.kind === 'end') return requirements;
      if (next.kind !== ',') throw new SelectorError(`found '${next.text}', expected: ',' or 'end of string'`);
      const after = this.peek();
      if (after.kind !== 'identifier' && after.kind !== '!') {
        throw new SelectorError(`found '${after.text}', expected: identifier after ','`);
      }
    }
  }

  private requirement(): LabelRequirement {
    try {
      return this.keyOperatorValues();
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      throw new SelectorError(`unable to parse requirement: ${error.message}`);
    }
  }

  private keyOperatorValues(): LabelRequirement {
    let token = this.take();
    const negated = token.kind === '!';
    if (negated) token = this.take();
    if (token.kind !== 'identifier') throw new SelectorError(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const problem = checkKey(key, undefined);
    if (problem !== undefined) throw new SelectorError(fieldErrorText(problem));
    const next = this.peek().kind;
    if (negated) return newRequirement(key, '!', []);
    if (next === 'end' || next === ',') return newRequirement(key, 'exists', []);

    const word = this.takeRaw();
    const operator = OPERATOR_OF[word.kind];
    if (operator === undefined) {
      throw new SelectorError(`found '${word.text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
    const values = operator === 'in' || operator === 'notin' ? this.valueList() : this.exactValue();
    return newRequirement(key, operator, [...new Set(values)].sort());
  }

  private valueList(): string[] {
    const open = this.take();
    if (open.kind !== '(') throw new SelectorError(`found '${open.text}' expected: '('`);
    const first = this.peek();
    if (first.kind === ')') {
      this.take();
      return [''];
    }
    if (first.kind !== 'identifier' && first.kind !== ',') {
      throw new SelectorError(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = this.identifiers();
    if (this.take().kind !== ')') throw new SelectorError(`found '${first.text}', expected: ')'`);
    return values;
  }

  /** An empty place between commas or parentheses is the empty value. */
  private identifiers(): string[] {
    const values: string[] = [];
    for (;;) {
      const token = this.take();
      if (token.kind === 'identifier') {
        values.push(token.text);
        const next = this.peek();
        if (next.kind === ')') return values;
        if (next.kind !== ',') throw new SelectorError(`found '${next.text}', expected: ',' or ')'`);
      } else if (token.kind === ',') {
        if (values.length === 0) values.push('');
        const next = this.peek();
        if (next.kind === ')') return [...values, ''];
        if (next.kind === ',') {
          this.take();
          values.push('');
        }
      } else {
        throw new SelectorError(`found '${token.text}', expected: ',', or identifier`);
      }
    }
  }

  private exactValue(): string[] {
    const { kind } = this.peek();
    if (kind === 'end' || kind === ',') return [''];
    const token = this.take();
    if (token.kind !== 'identifier') throw new SelectorError(`found '${token.text}', expected: identifier`);
    return [token.text];
  }

  private peek(): Token {
    return asWord(this.tokens[this.position] ?? END);
  }

  private take(): Token {
    return asWord(this.takeRaw());
  }

  private takeRaw(): Token {
    return this.tokens[this.position++] ?? END;
  }
}

const END: Token = { kind: 'end', text: '' };

const asWord = (token: Token): Token =>
  token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', text: token.text } : token;
