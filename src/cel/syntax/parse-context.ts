// What all parts of the parser share: the tokens, the nodes that are made of them, and the mistakes that are found.
import type { Macro } from '../library.js';
import { MacroError } from '../library.js';
import type { Expr } from './expression.js';
import type { ExpressionFactory } from './factory.js';
import { Nesting } from './nesting.js';
import type { Mistakes, Source } from './source.js';
import type { TokenCursor } from './token-cursor.js';

export interface ParseOptions {
  /** By `macroKey`. */
  readonly macros: ReadonlyMap<string, Macro>;
  readonly optionalSyntax: boolean;
  readonly escapedIdentifiers: boolean;
}

export const macroKey = (name: string, count: number | 'any', receiver: boolean): string =>
  `${name}:${count}:${receiver ? 'receiver' : 'global'}`;

interface ParseContextParts {
  readonly cursor: TokenCursor;
  readonly make: ExpressionFactory;
  readonly source: Source;
  /** Those that are found are reported here. */
  readonly mistakes: Mistakes;
  readonly options: ParseOptions;
}

export class ParseContext {
  readonly cursor: TokenCursor;
  readonly make: ExpressionFactory;
  readonly options: ParseOptions;
  readonly nesting = new Nesting();
  readonly #source: Source;
  readonly #mistakes: Mistakes;

  constructor({ cursor, make, source, mistakes, options }: ParseContextParts) {
    this.cursor = cursor;
    this.make = make;
    this.options = options;
    this.#source = source;
    this.#mistakes = mistakes;
  }

  callOrMacro(id: number, name: string, target: Expr | undefined, args: readonly Expr[]): Expr {
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

  report(offset: number, message: string): Expr {
    this.#mistakes.report(this.#source.locate(offset), message);
    return this.make.unspecified(offset);
  }
}
