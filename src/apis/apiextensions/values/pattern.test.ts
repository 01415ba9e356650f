import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePattern } from './pattern.js';

const matches = (pattern: string, text: string): boolean => {
  const compiled = compilePattern(pattern);
  if ('error' in compiled) throw new Error(compiled.error);
  return compiled.matches(text);
};

test('a pattern is looked for anywhere in a value', () => {
  assert.equal(matches('b+', 'abba'), true);
  assert.equal(matches('^b+$', 'abba'), false);
  assert.equal(matches('^a.c$', 'a\nc'), false);
});

test('long values match patterns of the usual size', () => {
  const name = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$';
  assert.equal(matches(name, 'a'.repeat(3_000_000)), true);
});

test('a long pattern on a long value holds nobody up', () => {
  assert.equal(matches('a?'.repeat(1000), 'a'.repeat(1000)), true);
  assert.equal(matches('.*a'.repeat(10_000), 'a'.repeat(100_000)), false);
  assert.throws(() => matches('.*a'.repeat(30_000), 'a'), /expression too large/);
});
