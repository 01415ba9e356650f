import assert from 'node:assert/strict';
import { test } from 'node:test';
import { result } from '../testing.js';
import { STRING } from '../type.js';
import { replacePaced, splitPaced } from './pieces.js';

function counting(most = Infinity) {
  const pace = { checks: 0, begin: () => undefined, round: () => undefined, check: () => step() };
  const step = (): void => {
    pace.checks += 1;
    if (pace.checks > most) throw new Error('stopped');
  };
  return pace;
}

test('a text is split and replaced as strings are, at separators of any length and between characters', () => {
  const pace = counting();
  for (const text of ['', 'a', 'abcab', 'ababab', '😀a😀', 'x'.repeat(3000), 'ab'.repeat(2000)]) {
    for (const separator of ['a', 'ab', '😀', 'zz', 'x'.repeat(17)]) {
      assert.deepEqual(splitPaced(text, separator, Infinity, pace), text.split(separator));
      assert.equal(
        replacePaced(text, { old: separator, replacement: '<$&>', most: Infinity }, pace),
        text.split(separator).join('<$&>'),
      );
    }
    assert.deepEqual(splitPaced(text, '', Infinity, pace), Array.from(text));
  }
  assert.deepEqual(splitPaced('a,b,c', ',', 2, pace), ['a', 'b,c']);
  assert.deepEqual(splitPaced('😀bc', '', 2, pace), ['😀', 'bc']);
  assert.deepEqual(splitPaced('abc', '', 1, pace), ['abc']);
});

test('an empty text to replace stands around every character, as often as it may', () => {
  const replaced = [0, 1, 2, 3, 4, Infinity].map((most) =>
    replacePaced('😀b', { old: '', replacement: '-', most }, counting()),
  );
  assert.deepEqual(replaced, ['😀b', '-😀b', '-😀-b', '-😀-b-', '-😀-b-', '-😀-b-']);
  assert.equal(replacePaced('', { old: '', replacement: '-', most: Infinity }, counting()), '-');
  assert.equal(replacePaced('aaa', { old: 'a', replacement: '', most: 2 }, counting()), 'a');
});

test('long texts poll for interruption', () => {
  const text = 'ab'.repeat(100_000);
  for (const work of [
    (pace: ReturnType<typeof counting>) => replacePaced(text, { old: 'a', replacement: 'c', most: Infinity }, pace),
    (pace: ReturnType<typeof counting>) => splitPaced(text, '', Infinity, pace),
  ]) {
    const free = counting();
    work(free);
    assert.ok(free.checks > 90, String(free.checks));
    assert.throws(() => work(counting(1)), /stopped/);
  }
});

test('functions over long texts and lists, and in many zones, poll for interruption', () => {
  const text = 'ab'.repeat(100_000);
  for (const [expression, least] of [
    ['text.replace("a", "c").size()', 90],
    ['text.replace("a", "c", 90000).size()', 80],
    ['text.split("a").size()', 90],
    ['sets.contains(text.split("a"), ["c"])', 1000],
    ['sets.equivalent(text.split("a"), ["c"])', 1000],
    ['sets.intersects(text.split("a"), ["c"])', 1000],
    ['text.split("a").join().size()', 2000],
    ['text.split("a").join("x").size()', 2000],
    ['text.split("a").sort().size()', 1000],
    ['text.split("a").sortBy(x, x).size()', 1000],
    ['text.split("a").distinct().size()', 1000],
    ['["Europe/Berlin", "Asia/Tokyo"].map(z, timestamp("2020-01-01T00:00:00Z").getFullYear(z))', 2],
  ] as const) {
    let polls = 0;
    const interrupted = (): boolean => (polls++, false);
    result(expression, { variables: { text: STRING }, values: { text }, interrupted });
    assert.ok(polls >= least, `${expression}: ${polls}`);
  }
});
