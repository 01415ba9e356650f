// The text form of label selectors, as `?labelSelector=` has it.
import { sortSteps } from '../lib/scheduling/sort-steps.js';
import type { StepGenerator } from '../lib/scheduling/yield.js';
import { fieldErrorText } from './field-error.js';
import {
  checkKey,
  type LabelOperator,
  type LabelRequirement,
  newRequirement,
  SelectorError,
} from './label-requirement.js';

/** Throws SelectorError. */
export const requirementSteps = (text: string): StepGenerator<LabelRequirement[]> =>
  new Parser(new Scanner(text)).requirements();

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

const SYMBOLS = '=!()<>,';
const BLANKS = ' \t\r\n';

/** Of each character below 128: whether words end before it, and whether it is a symbol. */
const ENDS_WORD = Uint8Array.from({ length: 128 }, (_, code) =>
  (SYMBOLS + BLANKS).includes(String.fromCharCode(code)) ? 1 : 0,
);
const IS_SYMBOL = Uint8Array.from({ length: 128 }, (_, code) => (SYMBOLS.includes(String.fromCharCode(code)) ? 1 : 0));

const SYMBOL_TOKENS: ReadonlyMap<string, Token> = new Map(
  ([')', ',', '!', '==', '=', '>', '<', '!=', '('] as const).map((kind) => [kind, { kind, text: kind }]),
);
const END: Token = { kind: 'end', text: '' };

/** Tokens one by one, as they are wanted: what comes after a mistake is never read. */
class Scanner {
  #at = 0;

  constructor(private readonly text: string) {}

  next(): Token {
    const { text } = this;
    while (this.#at < text.length && BLANKS.includes(text[this.#at] as string)) this.#at++;
    if (this.#at >= text.length) return END;
    const start = this.#at;
    if (IS_SYMBOL[text.charCodeAt(start)] === 1) {
      // Every symbol is a token by itself; only `==` and `!=` are longer.
      const token = (text[start + 1] === '=' && SYMBOL_TOKENS.get(text.slice(start, start + 2))) || undefined;
      const symbol = token ?? (SYMBOL_TOKENS.get(text[start] as string) as Token);
      this.#at += symbol.text.length;
      return symbol;
    }
    while (this.#at < text.length && ENDS_WORD[text.charCodeAt(this.#at)] !== 1) this.#at++;
    const word = text.slice(start, this.#at);
    return { kind: word === 'in' || word === 'notin' ? word : 'identifier', text: word };
  }
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

/** So many are read in a few milliseconds. */
const MANY = 2048;

/** Keys and values may be the words `in` and `notin`; only in an operator's place are they operators. */
class Parser {
  private upcoming: Token | undefined = undefined;

  constructor(private readonly scanner: Scanner) {}

  *requirements(): StepGenerator<LabelRequirement[]> {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const { kind, text } = this.peek();
      if (kind === 'end') return requirements;
      if (kind !== 'identifier' && kind !== '!') {
        throw new SelectorError(`found '${text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(yield* this.requirement());
      if (requirements.length % MANY === 0) yield;
      const next = this.take();
      if (next.kind === 'end') return requirements;
      if (next.kind !== ',') throw new SelectorError(`found '${next.text}', expected: ',' or 'end of string'`);
      const after = this.peek();
      if (after.kind !== 'identifier' && after.kind !== '!') {
        throw new SelectorError(`found '${after.text}', expected: identifier after ','`);
      }
    }
  }

  private *requirement(): StepGenerator<LabelRequirement> {
    try {
      return yield* this.keyOperatorValues();
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      throw new SelectorError(`unable to parse requirement: ${error.message}`);
    }
  }

  private *keyOperatorValues(): StepGenerator<LabelRequirement> {
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
    const values = operator === 'in' || operator === 'notin' ? yield* this.valueList() : this.exactValue();
    return newRequirement(key, operator, yield* sortSteps([...new Set(values)], byUnits));
  }

  private *valueList(): StepGenerator<string[]> {
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
    const values = yield* this.identifiers();
    if (this.take().kind !== ')') throw new SelectorError(`found '${first.text}', expected: ')'`);
    return values;
  }

  /** An empty place between commas or parentheses is the empty value. */
  private *identifiers(): StepGenerator<string[]> {
    const values: string[] = [];
    for (;;) {
      if (values.length % MANY === MANY - 1) yield;
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
    return asWord((this.upcoming ??= this.scanner.next()));
  }

  private take(): Token {
    return asWord(this.takeRaw());
  }

  private takeRaw(): Token {
    const token = this.upcoming ?? this.scanner.next();
    this.upcoming = undefined;
    return token;
  }
}

const asWord = (token: Token): Token =>
  token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', text: token.text } : token;

/** The order of sort() without a comparator. */
const byUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
