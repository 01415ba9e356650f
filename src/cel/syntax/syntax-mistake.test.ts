import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { tokenize } from './lexer.js';
import { parse } from './parser.js';
import { syntaxMistakes } from './syntax-mistake.js';

// prettier-ignore
const WORDS = [
  'a', 'b', '1', '-', '!', '.', '(', ')', '[', ']', '{', '}', ',', ':', '?', '+', '*', '<', 'in', '&&', '||', 'true',
  "'s'", '1.5', '2u', '`x`', 'null', '$', ' ', '\n',
];

test('the parser and what explains its refusals agree on what is of the grammar', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...WORDS), { maxLength: 12 }), (words) => {
      const text = words.join(' ');
      const { tokens, mistakes } = tokenize(text);
      const parsed = parse(text, { macros: new Map(), optionalSyntax: true, escapedIdentifiers: true });
      const explained = syntaxMistakes(text, tokens, mistakes).length > 0;
      assert.equal(parsed.mistakes.toString().includes('Syntax error'), explained);
      assert.ok(parsed.mistakes.any || parsed.expression.kind !== 'unspecified');
    }),
    { numRuns: 500 },
  );
});
