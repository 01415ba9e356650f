// What operators stand between: literals, identifiers, calls, lists, maps, messages, and what is selected of them.
import type { Expr, MapEntry, StructField } from './expression.js';
import type { ExpressionFactory } from './factory.js';
import type { Token, TokenType } from './lexer.js';
import { literalValue } from './literal.js';
import type { Nesting } from './nesting.js';
import type { ParseContext } from './parse-context.js';
import { type TokenCursor, Ungrammatical } from './token-cursor.js';
import { LiteralMistake } from './unescape.js';

// prettier-ignore
const RESERVED: ReadonlySet<string> = new Set([
  'as', 'break', 'const', 'continue', 'else', 'false', 'for', 'function', 'if', 'import', 'in', 'let', 'loop',
  'package', 'namespace', 'null', 'return', 'true', 'var', 'void', 'while',
]);

export class Terms {
  private readonly cursor: TokenCursor;
  private readonly make: ExpressionFactory;
  private readonly nesting: Nesting;

  constructor(
    private readonly context: ParseContext,
    /** Parses a whole expression, as there is one between brackets. */
    private readonly expr: () => Expr,
  ) {
    this.cursor = context.cursor;
    this.make = context.make;
    this.nesting = context.nesting;
  }

  member(): Expr {
    this.nesting.enter('member');
    let operand = this.primary();
    for (;;) {
      const dot = this.cursor.accept('.');
      const bracket = dot === undefined ? this.cursor.accept('[') : undefined;
      if (dot === undefined && bracket === undefined) break;
      if (dot !== undefined) operand = this.selectOrCall(operand, dot);
      else if (bracket !== undefined) operand = this.index(operand, bracket);
    }
    this.nesting.leave('member');
    return operand;
  }

  private selectOrCall(operand: Expr, dot: Token): Expr {
    const optional = this.cursor.accept('?') !== undefined;
    const token = this.cursor.look() === 'ESC_IDENTIFIER' ? this.cursor.next() : this.cursor.expect('IDENTIFIER');
    const open = optional || token.type !== 'IDENTIFIER' ? undefined : this.cursor.accept('(');
    if (open !== undefined) {
      const id = this.make.id(open.start);
      const args = this.arguments();
      return this.nesting.above(this.context.callOrMacro(id, token.text, operand, args), [operand, ...args]);
    }
    const field = this.fieldName(token);
    if (!optional)
      return this.nesting.above(this.make.select(this.make.id(dot.start), operand, field, false), [operand]);
    if (!this.context.options.optionalSyntax) return this.context.report(dot.start, "unsupported syntax '.?'");
    const call = this.make.call(this.make.id(dot.start), '_?._', undefined, [
      operand,
      this.make.literal(this.make.id(token.start), field),
    ]);
    return this.nesting.above(call, [operand]);
  }

  private index(operand: Expr, bracket: Token): Expr {
    const optional = this.cursor.accept('?') !== undefined;
    const id = this.make.id(bracket.start);
    const index = this.expr();
    this.cursor.expect(']');
    if (optional && !this.context.options.optionalSyntax)
      return this.context.report(bracket.start, "unsupported syntax '[?'");
    const name = optional ? '_[?_]' : '_[_]';
    return this.nesting.above(this.context.callOrMacro(id, name, undefined, [operand, index]), [operand, index]);
  }

  private primary(): Expr {
    const first = this.cursor.token;
    switch (first.type) {
      case '(': {
        this.cursor.next();
        const inner = this.expr();
        this.cursor.expect(')');
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
    let ahead = this.cursor.look() === '.' ? 1 : 0;
    if (this.cursor.look(ahead) !== 'IDENTIFIER') return false;
    while (this.cursor.look(ahead + 1) === '.' && this.cursor.look(ahead + 2) === 'IDENTIFIER') ahead += 2;
    return this.cursor.look(ahead + 1) === '{';
  }

  private identOrCall(): Expr {
    const start = this.cursor.token.start;
    const dot = this.cursor.accept('.') === undefined ? '' : '.';
    const token = this.cursor.expect('IDENTIFIER');
    const open = this.cursor.accept('(');
    const id = open === undefined ? 0 : this.make.id(open.start);
    const args = open === undefined ? [] : this.arguments();
    if (RESERVED.has(token.text)) return this.context.report(start, `reserved identifier: ${token.text}`);
    if (open === undefined) return this.make.ident(this.make.id(token.start), dot + token.text);
    return this.nesting.beside(this.context.callOrMacro(id, dot + token.text, undefined, args), args);
  }

  private arguments(): Expr[] {
    const args: Expr[] = [];
    if (this.cursor.accept(')') !== undefined) return args;
    do args.push(this.expr());
    while (this.cursor.accept(',') !== undefined);
    this.cursor.expect(')');
    return args;
  }

  private list(): Expr {
    const id = this.make.id(this.cursor.next().start);
    const elements: Expr[] = [];
    const optional = new Set<number>();
    this.items(']', () => {
      if (this.optionalMark()) optional.add(elements.length);
      elements.push(this.expr());
    });
    return this.nesting.beside(this.make.list(id, elements, optional), elements);
  }

  private map(): Expr {
    const id = this.make.id(this.cursor.next().start);
    const entries: MapEntry[] = [];
    this.items('}', () => {
      const optional = this.optionalMark();
      const key = this.expr();
      const entryId = this.make.id(this.cursor.expect(':').start);
      entries.push({ id: entryId, key, value: this.expr(), optional });
    });
    return this.nesting.beside(
      this.make.map(id, entries),
      entries.flatMap((e) => [e.key, e.value]),
    );
  }

  private message(): Expr {
    let name = this.cursor.accept('.') === undefined ? '' : '.';
    name += this.cursor.expect('IDENTIFIER').text;
    while (this.cursor.accept('.') !== undefined) name += `.${this.cursor.expect('IDENTIFIER').text}`;
    const id = this.make.id(this.cursor.expect('{').start);
    const fields: StructField[] = [];
    this.items('}', () => {
      const optional = this.optionalMark();
      const token = this.cursor.look() === 'ESC_IDENTIFIER' ? this.cursor.next() : this.cursor.expect('IDENTIFIER');
      const fieldId = this.make.id(this.cursor.expect(':').start);
      fields.push({ id: fieldId, name: this.fieldName(token), value: this.expr(), optional });
    });
    return this.nesting.beside(
      this.make.struct(id, name, fields),
      fields.map((f) => f.value),
    );
  }

  /** Items up to the closing bracket, with commas between them and perhaps one after the last. */
  private items(close: TokenType, item: () => void): void {
    if (this.cursor.look() !== close && this.cursor.look() !== ',') {
      item();
      while (this.cursor.look() === ',' && this.cursor.look(1) !== close) {
        this.cursor.next();
        item();
      }
    }
    this.cursor.accept(',');
    this.cursor.expect(close);
  }

  private optionalMark(): boolean {
    const question = this.cursor.accept('?');
    if (question === undefined) return false;
    if (!this.context.options.optionalSyntax) this.context.report(question.start, "unsupported syntax '?'");
    return true;
  }

  private fieldName(token: Token): string {
    if (token.type !== 'ESC_IDENTIFIER') return token.text;
    if (!this.context.options.escapedIdentifiers) this.context.report(token.start, "unsupported syntax: '`'");
    return token.text.slice(1, -1);
  }

  private literal(): Expr {
    const start = this.cursor.token.start;
    const sign = this.cursor.accept('-') === undefined ? '' : '-';
    const token = this.cursor.next();
    try {
      const value = literalValue(token, sign);
      if (value === undefined) throw new Ungrammatical();
      return this.make.literal(this.make.id(start), value);
    } catch (error) {
      if (error instanceof LiteralMistake) return this.context.report(start, error.message);
      throw error;
    }
  }
}
