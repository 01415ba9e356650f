// What is wrong with a text that is not of the grammar.
import type { LexicalMistake, Token } from './lexer.js';

export interface SyntaxMistake {
  readonly offset: number;
  readonly message: string;
}

export function syntaxMistakes(tokens: readonly Token[], lexical: readonly LexicalMistake[]): SyntaxMistake[] {
  const found = lexical.map(({ start, text }) => ({ offset: start, message: `token recognition error at: '${text}'` }));
  if (found.length > 0) return found;
  const last = tokens.at(-1);
  return [{ offset: last?.start ?? 0, message: `mismatched input '${last?.text ?? ''}'` }];
}
