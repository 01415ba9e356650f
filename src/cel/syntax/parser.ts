// Tokens to an expression tree, macros expanded. A text that is not of the grammar is handed to syntax-mistake.ts,
// which says what is wrong with it in kube-apiserver's words.
import { ExpressionFactory, TooManyNodes } from './factory.js';
import type { Expr, MapEntry, StructField } from './expression.js';
import { literalValue } from './literal.js';
import type { Token, TokenType } from './lexer.js';
import { tokenize } from './lexer.js';
import type { Macro } from '../library.js';
import { MacroError } from '../library.js';
import { characters, Mistakes, NOWHERE, Source } from './source.js';
import { syntaxMistakes } from './syntax-mistake.js';
import { LiteralMistake } from './unescape.js';

export interface ParseOptions {
  /** By `macroKey`. */
  readonly macros: ReadonlyMap<string, Macro>;
  readonly optionalSyntax: boolean;
  readonly escapedIdentifiers: boolean;
}

export interface Parsed {
  readonly source: Source;
  readonly mistakes: Mistakes;
  readonly expression: Expr;
  /** Where each node stands in the text, by its id. */
  readonly offsets: readonly number[];
}

export const macroKey = (name: string, count: number | 'any', receiver: boolean): string =>
  `${name}:${count}:${receiver ? 'receiver' : 'global'}`;

const MAX_CHARACTERS = 100_000;
const DEEPEST = 250;

export function parse(text: string, options: ParseOptions): Parsed {
  const source = new Source(text);
  const mistakes = new Mistakes(source);
  const factory = new ExpressionFactory();
  const failed = (): Parsed => ({ source, mistakes, expression: { kind: 'unspecified', id: 0 }, offsets: [] });
  const size = characters(text);
  if (size > MAX_CHARACTERS) {
    mistakes.report(NOWHERE, `expression code point size exceeds limit: size: ${size}, limit ${MAX_CHARACTERS}`);
    return failed();
  }
  const { tokens, mistakes: lexical } = tokenize(text);
  const parser = new Parser(tokens, { make: factory, source, mistakes, options });
  if (lexical.length === 0) {
    try {
      return { source, mistakes, expression: parser.whole(), offsets: factory.offsets };
    } catch (error) {
      if (error instanceof TooDeep || error instanceof TooManyNodes) {
        const tooMuch = new Mistakes(source);
        tooMuch.report(NOWHERE, error.message);
        return { ...failed(), mistakes: tooMuch };
      }
      if (!(error instanceof Ungrammatical)) throw error;
    }
  }
  const reported = new Mistakes(source);
  for (const { offset, message } of syntaxMistakes(text, tokens, lexical)) {
    reported.report(offset === undefined ? NOWHERE : source.locate(offset), message);
  }
  return { ...failed(), mistakes: reported };
}

class Ungrammatical extends Error {}

class TooDeep extends Error {}

// prettier-ignore
const RESERVED: ReadonlySet<string> = new Set([
  'as', 'break', 'const', 'continue', 'else', 'false', 'for', 'function', 'if', 'import', 'in', 'let', 'loop',
  'package', 'namespace', 'null', 'return', 'true', 'var', 'void', 'while',
]);
const RELATIONS: Partial<Record<TokenType, string>> = {
  '<': '_<_',
  '<=': '_<=_',
  '>=': '_>=_',
  '>': '_>_',
  '==': '_==_',
  '!=': '_!=_',
  in: '@in',
};
const PRODUCTS: Partial<Record<TokenType, string>> = { '*': '_*_', '/': '_/_', '%': '_%_' };
const SUMS: Partial<Record<TokenType, string>> = { '+': '_+_', '-': '_-_' };

/** kube-apiserver limits how deep each of its grammar rules may nest, and how deep operators may. */
type Rule = 'expr' | 'relation' | 'calc' | 'member';

interface ParserParts {
  readonly make: ExpressionFactory;
  readonly source: Source;
  /** Those that are found are reported here. */
  readonly mistakes: Mistakes;
  readonly options: ParseOptions;
}

class Parser {
  private readonly make: ExpressionFactory;
  private readonly source: Source;
  private readonly mistakes: Mistakes;
  private readonly options: ParseOptions;
  private at = 0;
  private readonly depth: Record<Rule, number> = { expr: 0, relation: 0, calc: 0, member: 0 };
  /** How deep the operators below each node nest, by its id. */
  private readonly nesting: number[] = [];

  constructor(
    private readonly tokens: readonly Token[],
    { make, source, mistakes, options }: ParserParts,
  ) {
    this.make = make;
    this.source = source;
    this.mistakes = mistakes;
    this.options = options;
  }

  whole(): Expr {
    const expression = this.expr();
    this.expect('EOF');
    return expression;
  }

  private expr(): Expr {
    this.enter('expr');
    const condition = this.conditionalOr();
    const question = this.accept('?');
    let result = condition;
    if (question !== undefined) {
      const id = this.make.id(question.start);
      const yes = this.conditionalOr();
      this.expect(':');
      const no = this.expr();
      result = this.nested(this.callOrMacro(id, '_?_:_', undefined, [condition, yes, no]), condition, yes, no);
    }
    this.depth.expr--;
    return result;
  }

  private conditionalOr(): Expr {
    return this.chain('||', '_||_', () => this.conditionalAnd());
  }

  private conditionalAnd(): Expr {
    return this.chain('&&', '_&&_', () => this.relation());
  }

  /** Terms of && and || are balanced into a tree, so that long chains do not nest deeply. */
  private chain(operator: TokenType, name: string, term: () => Expr): Expr {
    const first = term();
    const terms = [first];
    const ids: number[] = [];
    for (let token = this.accept(operator); token !== undefined; token = this.accept(operator)) {
      terms.push(term());
      ids.push(this.make.id(token.start));
    }
    if (terms.length === 1) return first;
    const build = (low: number, high: number): Expr => {
      const middle = (low + high + 1) >> 1;
      const left = middle === low ? terms[middle] : build(low, middle - 1);
      const right = middle === high ? terms[middle + 1] : build(middle + 1, high);
      return this.make.call(ids[middle] ?? 0, name, undefined, [left ?? first, right ?? first]);
    };
    const tree = build(0, ids.length - 1);
    this.nesting[tree.id] = terms.reduce((most, { id }) => Math.max(most, this.nesting[id] ?? 0), 0);
    return tree;
  }

  private relation(): Expr {
    this.enter('relation');
    let left = this.sum();
    for (let name = RELATIONS[this.look()]; name !== undefined; name = RELATIONS[this.look()]) {
      const id = this.make.id(this.next().start);
      this.enter('relation');
      const right = this.sum();
      this.depth.relation--;
      left = this.nested(this.callOrMacro(id, name, undefined, [left, right]), left, right);
    }
    this.depth.relation--;
    return left;
  }

  private sum(): Expr {
    this.enter('calc');
    let left = this.product();
    for (let name = SUMS[this.look()]; name !== undefined; name = SUMS[this.look()]) {
      const id = this.make.id(this.next().start);
      this.enter('calc');
      const right = this.product();
      this.depth.calc--;
      left = this.nested(this.callOrMacro(id, name, undefined, [left, right]), left, right);
    }
    this.depth.calc--;
    return left;
  }

  private product(): Expr {
    let left = this.unary();
    for (let name = PRODUCTS[this.look()]; name !== undefined; name = PRODUCTS[this.look()]) {
      const id = this.make.id(this.next().start);
      this.enter('calc');
      const right = this.unary();
      this.depth.calc--;
      left = this.nested(this.callOrMacro(id, name, undefined, [left, right]), left, right);
    }
    return left;
  }

  private unary(): Expr {
    const first = this.token;
    if (first.type !== '!' && first.type !== '-') return this.member();
    const following = this.tokens[this.at + 1]?.type;
    // One minus before a number belongs to the number.
    if (first.type === '-' && (following === 'NUM_INT' || following === 'NUM_FLOAT')) return this.member();
    let count = 0;
    while (this.accept(first.type) !== undefined) count++;
    const id = count % 2 === 0 ? undefined : this.make.id(first.start);
    const operand = this.member();
    if (id === undefined) return operand;
    return this.inherit(this.callOrMacro(id, first.type === '!' ? '!_' : '-_', undefined, [operand]), operand);
  }

  private member(): Expr {
    this.enter('member');
    let operand = this.primary();
    for (;;) {
      const dot = this.accept('.');
      const bracket = dot === undefined ? this.accept('[') : undefined;
      if (dot === undefined && bracket === undefined) break;
      if (dot !== undefined) operand = this.selectOrCall(operand, dot);
      else if (bracket !== undefined) operand = this.index(operand, bracket);
    }
    this.depth.member--;
    return operand;
  }

  private selectOrCall(operand: Expr, dot: Token): Expr {
    const optional = this.accept('?') !== undefined;
    const token = this.look() === 'ESC_IDENTIFIER' ? this.next() : this.expect('IDENTIFIER');
    const open = optional || token.type !== 'IDENTIFIER' ? undefined : this.accept('(');
    if (open !== undefined) {
      const id = this.make.id(open.start);
      const args = this.arguments();
      return this.nested(this.callOrMacro(id, token.text, operand, args), operand, ...args);
    }
    const field = this.fieldName(token);
    if (!optional) return this.nested(this.make.select(this.make.id(dot.start), operand, field, false), operand);
    if (!this.options.optionalSyntax) return this.report(dot.start, "unsupported syntax '.?'");
    const call = this.make.call(this.make.id(dot.start), '_?._', undefined, [
      operand,
      this.make.literal(this.make.id(token.start), field),
    ]);
    return this.nested(call, operand);
  }

  private index(operand: Expr, bracket: Token): Expr {
    const optional = this.accept('?') !== undefined;
    const id = this.make.id(bracket.start);
    const index = this.expr();
    this.expect(']');
    if (optional && !this.options.optionalSyntax) return this.report(bracket.start, "unsupported syntax '[?'");
    const name = optional ? '_[?_]' : '_[_]';
    return this.nested(this.callOrMacro(id, name, undefined, [operand, index]), operand, index);
  }

  private primary(): Expr {
    const first = this.token;
    switch (first.type) {
      case '(': {
        this.next();
        const inner = this.expr();
        this.expect(')');
        return inner;
      }
      case '[':
        return this.list();
      case '{':
        return this.map();
      case '.':
      case 'IDENTIFIER':
        return this.startsMessage() ? this.message() : this.identOrCall();
      default:
        return this.literal();
    }
  }

  private startsMessage(): boolean {
    let i = this.tokens[this.at]?.type === '.' ? this.at + 1 : this.at;
    if (this.tokens[i]?.type !== 'IDENTIFIER') return false;
    while (this.tokens[i + 1]?.type === '.' && this.tokens[i + 2]?.type === 'IDENTIFIER') i += 2;
    return this.tokens[i + 1]?.type === '{';
  }

  private identOrCall(): Expr {
    const start = this.token.start;
    const dot = this.accept('.') === undefined ? '' : '.';
    const token = this.expect('IDENTIFIER');
    const open = this.accept('(');
    const id = open === undefined ? 0 : this.make.id(open.start);
    const args = open === undefined ? [] : this.arguments();
    if (RESERVED.has(token.text)) return this.report(start, `reserved identifier: ${token.text}`);
    if (open === undefined) return this.make.ident(this.make.id(token.start), dot + token.text);
    return this.inherit(this.callOrMacro(id, dot + token.text, undefined, args), ...args);
  }

  private arguments(): Expr[] {
    const args: Expr[] = [];
    if (this.accept(')') !== undefined) return args;
    do args.push(this.expr());
    while (this.accept(',') !== undefined);
    this.expect(')');
    return args;
  }

  private list(): Expr {
    const id = this.make.id(this.next().start);
    const elements: Expr[] = [];
    const optional = new Set<number>();
    this.items(']', () => {
      if (this.optionalMark()) optional.add(elements.length);
      elements.push(this.expr());
    });
    return this.inherit(this.make.list(id, elements, optional), ...elements);
  }

  private map(): Expr {
    const id = this.make.id(this.next().start);
    const entries: MapEntry[] = [];
    this.items('}', () => {
      const optional = this.optionalMark();
      const key = this.expr();
      const entryId = this.make.id(this.expect(':').start);
      entries.push({ id: entryId, key, value: this.expr(), optional });
    });
    return this.inherit(this.make.map(id, entries), ...entries.flatMap((e) => [e.key, e.value]));
  }

  private message(): Expr {
    let name = this.accept('.') === undefined ? '' : '.';
    name += this.expect('IDENTIFIER').text;
    while (this.accept('.') !== undefined) name += `.${this.expect('IDENTIFIER').text}`;
    const id = this.make.id(this.expect('{').start);
    const fields: StructField[] = [];
    this.items('}', () => {
      const optional = this.optionalMark();
      const token = this.look() === 'ESC_IDENTIFIER' ? this.next() : this.expect('IDENTIFIER');
      const fieldId = this.make.id(this.expect(':').start);
      fields.push({ id: fieldId, name: this.fieldName(token), value: this.expr(), optional });
    });
    return this.inherit(this.make.struct(id, name, fields), ...fields.map((f) => f.value));
  }

  /** Items up to the closing bracket, with commas between them and perhaps one after the last. */
  private items(close: TokenType, item: () => void): void {
    if (this.look() !== close && this.look() !== ',') {
      item();
      while (this.look() === ',' && this.tokens[this.at + 1]?.type !== close) {
        this.next();
        item();
      }
    }
    this.accept(',');
    this.expect(close);
  }

  private optionalMark(): boolean {
    const question = this.accept('?');
    if (question === undefined) return false;
    if (!this.options.optionalSyntax) this.report(question.start, "unsupported syntax '?'");
    return true;
  }

  private fieldName(token: Token): string {
    if (token.type !== 'ESC_IDENTIFIER') return token.text;
    if (!this.options.escapedIdentifiers) this.report(token.start, "unsupported syntax: '`'");
    return token.text.slice(1, -1);
  }

  private literal(): Expr {
    const start = this.token.start;
    const sign = this.accept('-') === undefined ? '' : '-';
    const token = this.next();
    try {
      const value = literalValue(token, sign);
      if (value === undefined) throw new Ungrammatical();
      return this.make.literal(this.make.id(start), value);
    } catch (error) {
      if (error instanceof LiteralMistake) return this.report(start, error.message);
      throw error;
    }
  }

  private callOrMacro(id: number, name: string, target: Expr | undefined, args: readonly Expr[]): Expr {
    const receiver = target !== undefined;
    const macro =
      this.options.macros.get(macroKey(name, args.length, receiver)) ??
      this.options.macros.get(macroKey(name, 'any', receiver));
    const offset = this.make.offsets[id] ?? 0;
    const expanded = macro?.expand(this.make.builder(offset), target, args);
    if (expanded instanceof MacroError) {
      return this.report(
        expanded.at === undefined ? offset : (this.make.offsets[expanded.at.id] ?? 0),
        expanded.message,
      );
    }
    return expanded ?? this.make.call(id, name, target, args);
  }

  private report(offset: number, message: string): Expr {
    this.mistakes.report(this.source.locate(offset), message);
    return this.make.unspecified(offset);
  }

  private enter(rule: Rule): void {
    this.depth[rule]++;
    if (this.depth[rule] > DEEPEST) throw new TooDeep(`expression recursion limit exceeded: ${DEEPEST}`);
  }

  /** An operator one level above its operands. */
  private nested(expression: Expr, ...operands: Expr[]): Expr {
    this.inherit(expression, ...operands);
    const depth = (this.nesting[expression.id] ?? 0) + 1;
    if (depth > DEEPEST) throw new TooDeep('max recursion depth exceeded');
    this.nesting[expression.id] = depth;
    return expression;
  }

  private inherit(expression: Expr, ...operands: Expr[]): Expr {
    let deepest = 0;
    for (const operand of operands) deepest = Math.max(deepest, this.nesting[operand.id] ?? 0);
    this.nesting[expression.id] = deepest;
    return expression;
  }

  private get token(): Token {
    return this.tokens[this.at] ?? { type: 'EOF', text: '<EOF>', start: 0 };
  }

  private look(): TokenType {
    return this.tokens[this.at]?.type ?? 'EOF';
  }

  private next(): Token {
    const token = this.token;
    this.at++;
    return token;
  }

  private accept(type: TokenType): Token | undefined {
    return this.look() === type ? this.next() : undefined;
  }

  private expect(type: TokenType): Token {
    const token = this.accept(type);
    if (token === undefined) throw new Ungrammatical();
    return token;
  }
}
