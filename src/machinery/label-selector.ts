// Label selectors: the text form of `?labelSelector=`, the object form in specs, and matching.
import { aggregateText, FieldPath, type FieldError, fieldErrorText, invalid } from './field-error.js';
import { goQuote } from '../lib/go-quote.js';
import { isQualifiedName, isValidLabelValue } from './validation/names.js';

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** The `LabelSelector` of the API, as it stands in specs. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | null;
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | null }[]
    | null;
}

/** Text or object that is no selector; the message is meant for the client. */
export class SelectorError extends Error {}

export type Labels = Readonly<Record<string, string>>;

/** All requirements hold at once; none at all selects everything. Requirements are in the order of their keys. */
export class LabelSelector {
  private constructor(
    readonly requirements: readonly LabelRequirement[],
    /** False for the selector that selects nothing, whatever the labels. */
    readonly selectable: boolean,
  ) {}

  static readonly everything = new LabelSelector([], true);
  static readonly nothing = new LabelSelector([], false);

  static of(requirements: readonly LabelRequirement[]): LabelSelector {
    if (requirements.length === 0) return LabelSelector.everything;
    return new LabelSelector(requirements.toSorted(byKey), true);
  }

  /** Equality on each label, without checking their syntax. */
  static fromLabels(labels: Labels | null | undefined): LabelSelector {
    const pairs = Object.entries(labels ?? {});
    return LabelSelector.of(pairs.map(([key, value]) => ({ key, operator: '=', values: [value] })));
  }

  get empty(): boolean {
    return this.selectable && this.requirements.length === 0;
  }

  // hot: once for each object of a filtered list and each event of a filtered watch.
  matches(labels: Labels | null | undefined): boolean {
    if (!this.selectable) return false;
    for (const requirement of this.requirements) {
      if (!requirementMatches(requirement, labels)) return false;
    }
    return true;
  }

  /** The value a label must have, when the selector says exactly one. */
  requiresExactMatch(key: string): string | undefined {
    const requirement = this.requirements.find((candidate) => candidate.key === key);
    if (requirement === undefined || requirement.values.length !== 1) return undefined;
    return ['=', '==', 'in'].includes(requirement.operator) ? requirement.values[0] : undefined;
  }

  toString(): string {
    return this.requirements.map(requirementText).join(',');
  }
}

/** Throws SelectorError. */
export function parseLabelSelector(text: string): LabelSelector {
  return LabelSelector.of(new Parser(scan(text)).requirements());
}

/** No selector at all selects nothing, an empty one everything. Throws SelectorError. */
export function labelSelectorAsSelector(selector: LabelSelectorObject | null | undefined): LabelSelector {
  if (selector === undefined || selector === null) return LabelSelector.nothing;
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push(newRequirement(key, '=', [value]));
  }
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const known = EXPRESSION_OPERATORS[operator];
    if (known === undefined) throw new SelectorError(`${goQuote(operator)} is not a valid label selector operator`);
    requirements.push(newRequirement(key, known, values ?? []));
  }
  return LabelSelector.of(requirements);
}

const EXPRESSION_OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

const byKey = (a: LabelRequirement, b: LabelRequirement): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

function requirementMatches({ key, operator, values }: LabelRequirement, labels: Labels | null | undefined): boolean {
  const present = labels !== undefined && labels !== null && Object.hasOwn(labels, key);
  const value = present ? (labels[key] as string) : '';
  switch (operator) {
    case 'in':
    case '=':
    case '==':
      return present && values.includes(value);
    case 'notin':
    case '!=':
      return !present || !values.includes(value);
    case 'exists':
      return present;
    case '!':
      return !present;
    case 'gt':
    case 'lt': {
      const [left, right] = [parseInt64(value), parseInt64(values[0] ?? '')];
      if (!present || left === undefined || right === undefined) return false;
      return operator === 'gt' ? left > right : left < right;
    }
  }
}

function requirementText({ key, operator, values }: LabelRequirement): string {
  if (operator === '!') return `!${key}`;
  if (operator === 'exists') return key;
  const list = values.toSorted().join(',');
  if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${list})`;
  if (operator === 'gt') return `${key}>${list}`;
  if (operator === 'lt') return `${key}<${list}`;
  return key + operator + list;
}

function newRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const errors: FieldError[] = [];
  const path = FieldPath.of('values');
  const keyError = checkKey(key, FieldPath.of('key'));
  if (keyError !== undefined) errors.push(keyError);
  const refuseValues = (detail: string): void => {
    errors.push(invalid(path, values.length === 0 ? null : values, detail));
  };
  if (operator === 'in' || operator === 'notin') {
    if (values.length === 0) refuseValues("for 'in', 'notin' operators, values set can't be empty");
  } else if (operator === 'exists' || operator === '!') {
    if (values.length > 0) refuseValues('values set must be empty for exists and does not exist');
  } else if (operator === 'gt' || operator === 'lt') {
    if (values.length !== 1) refuseValues("for 'Gt', 'Lt' operators, exactly one value is required");
    values.forEach((value, position) => {
      if (parseInt64(value) !== undefined) return;
      errors.push(invalid(path.index(position), value, "for 'Gt', 'Lt' operators, the value must be an integer"));
    });
  }
  values.forEach((value, position) => {
    const problems = isValidLabelValue(value);
    if (problems.length > 0) errors.push(invalid(path.index(position).key(key), value, problems.join('; ')));
  });
  if (errors.length > 0) throw new SelectorError(aggregateText(errors.map(fieldErrorText)));
  return { key, operator, values };
}

function checkKey(key: string, path: FieldPath | undefined): FieldError | undefined {
  const problems = isQualifiedName(key);
  return problems.length === 0 ? undefined : invalid(path, key, problems.join('; '));
}

function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

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
