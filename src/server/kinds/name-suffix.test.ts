import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameSuffix, nameSuffixes } from './name-suffix.js';

test('a suffix has five characters, of those that form no words', () => {
  for (let i = 0; i < 100; i++) assert.match(nameSuffix(), /^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('no two worker processes draw the same', () => {
  const seen = new Set<string>();
  const count = 4;
  const numbers = [0, 1, 26, 27, 728, Math.floor(27 ** 5 / count) - 1];
  for (let index = 0; index < count; index++) {
    for (const number of numbers) seen.add(nameSuffixes({ index, count }, () => number)());
  }
  assert.equal(seen.size, count * numbers.length);
  assert.equal(nameSuffixes({ index: 2, count }, () => 0)(), 'dbbbb');
  assert.equal(nameSuffixes({ index: 0, count: 1 }, (below) => below - 1)(), '99999');
});
