// The tokens of an expression, read one after another.
import type { Token, TokenType } from './lexer.js';

/** A token is missing that the grammar asks for. */
export class Ungrammatical extends Error {}

export class TokenCursor {
  #at = 0;

  constructor(readonly tokens: readonly Token[]) {}

  get token(): Token {
    return this.tokens[this.#at] ?? { type: 'EOF', text: '<EOF>', start: 0 };
  }

  /** The type of the token that is so many ahead. */
  look(ahead = 0): TokenType {
    return this.tokens[this.#at + ahead]?.type ?? 'EOF';
  }

  next(): Token {
    const token = this.token;
    this.#at++;
    return token;
  }

  accept(type: TokenType): Token | undefined {
    return this.look() === type ? this.next() : undefined;
  }

  expect(type: TokenType): Token {
    const token = this.accept(type);
    if (token === undefined) throw new Ungrammatical();
    return token;
  }
}
