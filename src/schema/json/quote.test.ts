import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quoteJson } from './quote.js';

test('text is quoted as Go does, every character of it', () => {
  const short: Record<string, string> = {
    '"': '\\"',
    '\\': '\\\\',
    '\b': '\\b',
    '\f': '\\f',
    '\n': '\\n',
    '\r': '\\r',
  };
  for (let code = 0; code < 0x10000; code++) {
    const char = String.fromCharCode(code);
    const isEscaped = code < 0x20 || '<>&\u2028\u2029'.includes(char);
    const isHalf = code >= 0xd800 && code < 0xe000;
    const escape = char === '\t' ? '\\t' : (short[char] ?? `\\u${code.toString(16).padStart(4, '0')}`);
    const encoded = isHalf ? '\ufffd' : isEscaped || short[char] !== undefined ? escape : char;
    assert.equal(quoteJson(char), `"${encoded}"`);
    assert.equal(quoteJson(`a${char}"`), `"a${encoded}\\""`);
  }
  assert.equal(quoteJson('\u{1f600}"'), '"\u{1f600}\\""');
});
