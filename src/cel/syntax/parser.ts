// Tokens to an expression tree, macros expanded. A text that is not of the grammar is handed to syntax-mistake.ts,
// which says what is wrong with it in kube-apiserver's words.
import { ExpressionFactory, TooManyNodes } from './factory.js';
import type { Expr } from './expression.js';
import type { TokenType } from './lexer.js';
import { tokenize } from './lexer.js';
import { type Nesting, TooDeep } from './nesting.js';
import { ParseContext, type ParseOptions } from './parse-context.js';
import { characters, Mistakes, NOWHERE, Source } from './source.js';
import { syntaxMistakes } from './syntax-mistake.js';
import { Terms } from './terms.js';
import { TokenCursor, Ungrammatical } from './token-cursor.js';

export interface Parsed {
  readonly source: Source;
  readonly mistakes: Mistakes;
  readonly expression: Expr;
  /** Where each node stands in the text, by its id. */
  readonly offsets: readonly number[];
}

const MAX_CHARACTERS = 100_000;

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
  const cursor = new TokenCursor(tokens);
  const parser = new Parser(new ParseContext({ cursor, make: factory, source, mistakes, options }));
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

/** Operators, from the loosest to the tightest. */
class Parser {
  private readonly cursor: TokenCursor;
  private readonly make: ExpressionFactory;
  private readonly nesting: Nesting;
  private readonly terms: Terms;

  constructor(private readonly context: ParseContext) {
    this.cursor = context.cursor;
    this.make = context.make;
    this.nesting = context.nesting;
    this.terms = new Terms(context, () => this.expr());
  }

  whole(): Expr {
    const expression = this.expr();
    this.cursor.expect('EOF');
    return expression;
  }

  private expr(): Expr {
    this.nesting.enter('expr');
    const condition = this.conditionalOr();
    const question = this.cursor.accept('?');
    let result = condition;
    if (question !== undefined) {
      const id = this.make.id(question.start);
      const yes = this.conditionalOr();
      this.cursor.expect(':');
      const no = this.expr();
      result = this.nesting.above(this.context.callOrMacro(id, '_?_:_', undefined, [condition, yes, no]), [
        condition,
        yes,
        no,
      ]);
    }
    this.nesting.leave('expr');
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
    for (let token = this.cursor.accept(operator); token !== undefined; token = this.cursor.accept(operator)) {
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
    return this.nesting.beside(tree, terms);
  }

  private relation(): Expr {
    this.nesting.enter('relation');
    let left = this.sum();
    for (let name = RELATIONS[this.cursor.look()]; name !== undefined; name = RELATIONS[this.cursor.look()]) {
      const id = this.make.id(this.cursor.next().start);
      this.nesting.enter('relation');
      const right = this.sum();
      this.nesting.leave('relation');
      left = this.nesting.above(this.context.callOrMacro(id, name, undefined, [left, right]), [left, right]);
    }
    this.nesting.leave('relation');
    return left;
  }

  private sum(): Expr {
    this.nesting.enter('calc');
    let left = this.product();
    for (let name = SUMS[this.cursor.look()]; name !== undefined; name = SUMS[this.cursor.look()]) {
      const id = this.make.id(this.cursor.next().start);
      this.nesting.enter('calc');
      const right = this.product();
      this.nesting.leave('calc');
      left = this.nesting.above(this.context.callOrMacro(id, name, undefined, [left, right]), [left, right]);
    }
    this.nesting.leave('calc');
    return left;
  }

  private product(): Expr {
    let left = this.unary();
    for (let name = PRODUCTS[this.cursor.look()]; name !== undefined; name = PRODUCTS[this.cursor.look()]) {
      const id = this.make.id(this.cursor.next().start);
      this.nesting.enter('calc');
      const right = this.unary();
      this.nesting.leave('calc');
      left = this.nesting.above(this.context.callOrMacro(id, name, undefined, [left, right]), [left, right]);
    }
    return left;
  }

  private unary(): Expr {
    const first = this.cursor.token;
    if (first.type !== '!' && first.type !== '-') return this.terms.member();
    const following = this.cursor.look(1);
    // One minus before a number belongs to the number.
    if (first.type === '-' && (following === 'NUM_INT' || following === 'NUM_FLOAT')) return this.terms.member();
    let count = 0;
    while (this.cursor.accept(first.type) !== undefined) count++;
    const id = count % 2 === 0 ? undefined : this.make.id(first.start);
    const operand = this.terms.member();
    if (id === undefined) return operand;
    return this.nesting.beside(this.context.callOrMacro(id, first.type === '!' ? '!_' : '-_', undefined, [operand]), [
      operand,
    ]);
  }
}
