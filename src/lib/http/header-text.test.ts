import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerBytes, headerText, trimSpaces } from './header-text.js';

test('a header says what its bytes say in UTF-8', () => {
  assert.equal(headerText('alice'), 'alice');
  assert.equal(headerText('\xc3\xa9\xe5\x90\x8d'), 'é名');
  assert.equal(headerText('a\xe9'), 'a\ufffd');
});

test('a text becomes one character for each byte, and comes back', () => {
  assert.equal(headerBytes('alice'), 'alice');
  assert.equal(headerBytes('š'), '\xc5\xa1');
  for (const text of ['', 'é名', 'a š b', '😀']) assert.equal(headerText(headerBytes(text)), text);
});

test('only spaces and tabs are around a value', () => {
  assert.equal(trimSpaces(' \t a b\t '), 'a b');
  assert.equal(trimSpaces(' \t'), '');
  for (const text of ['a\xa0', '\x0ba', 'a\x0c', '\ufeffa']) assert.equal(trimSpaces(text), text);
});
