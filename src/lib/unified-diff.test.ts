import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unifiedDiff } from './unified-diff.js';

const lines = (text: string): string[] => text.split(' ');

test('equal texts have no diff', () => {
  assert.equal(unifiedDiff(lines('a b c'), lines('a b c')), '');
});

test('a change is shown with three lines of context on both sides', () => {
  const diff = unifiedDiff(lines('1 2 3 4 5 6 7 8 9'), lines('1 2 3 4 five 6 7 8 9'));
  assert.equal(diff, '@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n');
});

test('changes far apart stand in hunks of their own', () => {
  const numbers = Array.from({ length: 30 }, (_, i) => String(i));
  const changed = numbers.map((line) => (line === '2' || line === '25' ? `${line}x` : line));
  const heads = unifiedDiff(numbers, changed).match(/^@@.*@@$/gm);
  assert.deepEqual(heads, ['@@ -1,6 +1,6 @@', '@@ -23,7 +23,7 @@']);
});

test('one removed and one added line count without a length', () => {
  assert.equal(unifiedDiff(['a'], ['b']), '@@ -1 +1 @@\n-a\n+b\n');
});

test('a line that makes up much of a long text does not start a match', () => {
  const filler = Array.from({ length: 250 }, (_, i) => (i % 2 === 0 ? 'null' : `line ${i}`));
  const diff = unifiedDiff(filler, ['null', ...filler]);
  assert.equal(diff, '@@ -1,3 +1,4 @@\n+null\n null\n line 1\n null\n');
});
