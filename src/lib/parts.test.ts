import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Parts, UNDIVIDED } from './parts.js';
import { atOnce, type Steps } from './turns.js';

const SHARE = 10;

test('what fits in one part is through at once', () => {
  const parts = new Parts(undefined, SHARE);
  assert.equal(copied(parts, [1, [2, 3], [[4]]]).length, 3);
  assert.equal(parts.isLeft, false);
});

test('nested lists are walked through in parts, none longer than its share, and nothing twice', () => {
  const inner = Array.from({ length: 30 }, (_, j) => [j]);
  const tree = Array.from({ length: 7 }, (_, i) => [i, inner]);
  const parts = new Parts(undefined, SHARE);
  const copy = copied(parts, tree);
  assert.equal(parts.isLeft, true);
  const turns = turnsOf(parts.rest());
  assert.ok(turns >= (7 * 63) / SHARE - 1, `${turns} turns`);
  assert.deepEqual(copy, tree);
});

test('what comes at last comes once, after all entries', () => {
  const parts = new Parts(undefined, SHARE);
  const seen: (number | string)[] = [];
  parts.each(
    25,
    (at) => seen.push(at),
    () => seen.push('then'),
  );
  assert.equal(seen.length, SHARE);
  atOnce(parts.rest());
  assert.deepEqual(seen, [...Array.from({ length: 25 }, (_, i) => i), 'then']);
});

test('a walk finds itself where it was', () => {
  let path: string[] = [];
  const seen: string[] = [];
  const parts = new Parts(() => {
    const at = [...path];
    return () => {
      path = at;
    };
  }, SHARE);
  const walk = (depth: number): void =>
    parts.each(4, (at) => {
      path.push(`${at}`);
      if (depth === 0) seen.push(path.join(''));
      else walk(depth - 1);
      path.pop();
    });
  walk(2);
  atOnce(parts.rest());
  const all = Array.from({ length: 64 }, (_, i) => i.toString(4).padStart(3, '0'));
  assert.deepEqual(seen.toSorted(), all);
});

test('listing the names of a large map is counted', () => {
  const parts = new Parts(undefined, SHARE);
  const names = parts.names(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i])));
  const seen: number[] = [];
  parts.each(names.length, (at) => seen.push(at));
  assert.deepEqual(seen, []);
  assert.ok(turnsOf(parts.rest()) >= 10);
  assert.equal(seen.length, 100);
});

test('steps inside a walk have their turns, and loops end when told', () => {
  function* count(): Steps<number> {
    yield;
    yield;
    return 3;
  }
  const parts = new Parts(undefined, SHARE);
  let found = 0;
  let looped = 0;
  parts.run(count(), (value) => {
    found = value;
    parts.loop(() => ++looped < 35);
  });
  assert.equal(found, 0);
  assert.ok(turnsOf(parts.rest()) >= 4);
  assert.equal(found, 3);
  assert.equal(looped, 35);
});

test('a walk that has ended goes no further', () => {
  const parts = new Parts(undefined, SHARE);
  let seen = 0;
  parts.each(100, () => {
    seen++;
    if (seen === 5) parts.end();
  });
  assert.equal(seen, 5);
  assert.equal(parts.isLeft, false);
});

test('what is not to be divided is not', () => {
  const list = Array.from({ length: 100_000 }, (_, i) => i);
  assert.deepEqual(copied(UNDIVIDED, list), list);
});

function copied(parts: Parts, list: readonly unknown[]): unknown[] {
  const copy: unknown[] = [];
  parts.each(list.length, (at) => {
    const item = list[at];
    copy.push(Array.isArray(item) ? copied(parts, item) : item);
  });
  return copy;
}

function turnsOf(steps: Steps<void>): number {
  let turns = 0;
  while (!steps.next().done) turns++;
  return turns;
}
