import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedSets } from '../../../lib/testing/counted-sets.js';
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

const numbered = (count: number, name: string): string[] => Array.from({ length: count }, (_, i) => `${name} ${i}`);

test('of very long texts what is between their common ends is compared', () => {
  const a = numbered(1_200_000, 'line');
  assert.equal(
    unifiedDiff(a, a.with(600_000, 'x')),
    '@@ -599998,7 +599998,7 @@\n line 599997\n line 599998\n line 599999\n-line 600000\n+x\n line 600001\n line 600002\n line 600003\n',
  );
});

test('memory for a long text does not grow with it, nor does its diff', () => {
  const sets = (count: number): number =>
    countedSets(() => {
      const diff = unifiedDiff(numbered(count, 'old'), numbered(count, 'new'));
      assert.ok(diff.length < 1024 * 1024 + 100 && diff.endsWith('\n...\n'));
    });
  assert.equal(sets(200_000), sets(120_000));
});
