import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResumableWalk, UNDIVIDED } from './resumable-walk.js';
import { runSync, type StepGenerator } from './yield.js';

const SHARE = 10;

test('what fits in one part is through at once', () => {
  const resumable = new ResumableWalk(undefined, SHARE);
  assert.equal(copied(resumable, [1, [2, 3], [[4]]]).length, 3);
  assert.equal(resumable.hasDeferred, false);
});

test('nested lists are walked through in parts, none longer than its share, and nothing twice', () => {
  const inner = Array.from({ length: 30 }, (_, j) => [j]);
  const tree = Array.from({ length: 7 }, (_, i) => [i, inner]);
  const resumable = new ResumableWalk(undefined, SHARE);
  const copy = copied(resumable, tree);
  assert.equal(resumable.hasDeferred, true);
  const slices = slicesOf(resumable.resume());
  assert.ok(slices >= (7 * 63) / SHARE - 1, `${slices} slices`);
  assert.deepEqual(copy, tree);
});

test('what comes at last comes once, after all entries', () => {
  const resumable = new ResumableWalk(undefined, SHARE);
  const seen: (number | string)[] = [];
  resumable.each(
    25,
    (at) => seen.push(at),
    () => seen.push('then'),
  );
  assert.equal(seen.length, SHARE);
  runSync(resumable.resume());
  assert.deepEqual(seen, [...Array.from({ length: 25 }, (_, i) => i), 'then']);
});

test('a walk finds itself where it was', () => {
  let path: string[] = [];
  const seen: string[] = [];
  const resumable = new ResumableWalk(() => {
    const at = [...path];
    return () => {
      path = at;
    };
  }, SHARE);
  const walk = (depth: number): void =>
    resumable.each(4, (at) => {
      path.push(`${at}`);
      if (depth === 0) seen.push(path.join(''));
      else walk(depth - 1);
      path.pop();
    });
  walk(2);
  runSync(resumable.resume());
  const all = Array.from({ length: 64 }, (_, i) => i.toString(4).padStart(3, '0'));
  assert.deepEqual(seen.toSorted(), all);
});

test('listing the names of a large map is counted', () => {
  const resumable = new ResumableWalk(undefined, SHARE);
  const names = resumable.names(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i])));
  const seen: number[] = [];
  resumable.each(names.length, (at) => seen.push(at));
  assert.deepEqual(seen, []);
  assert.ok(slicesOf(resumable.resume()) >= 10);
  assert.equal(seen.length, 100);
});

test('steps inside a walk yield, and loops stop after end()', () => {
  function* count(): StepGenerator<number> {
    yield;
    yield;
    return 3;
  }
  const resumable = new ResumableWalk(undefined, SHARE);
  let found = 0;
  let looped = 0;
  resumable.run(count(), (value) => {
    found = value;
    resumable.loop(() => ++looped < 35);
  });
  assert.equal(found, 0);
  assert.ok(slicesOf(resumable.resume()) >= 4);
  assert.equal(found, 3);
  assert.equal(looped, 35);
});

test('a walk that has ended goes no further', () => {
  const resumable = new ResumableWalk(undefined, SHARE);
  let seen = 0;
  resumable.each(100, () => {
    seen++;
    if (seen === 5) resumable.end();
  });
  assert.equal(seen, 5);
  assert.equal(resumable.hasDeferred, false);
});

test('what is not to be divided is not', () => {
  const list = Array.from({ length: 100_000 }, (_, i) => i);
  assert.deepEqual(copied(UNDIVIDED, list), list);
});

function copied(resumable: ResumableWalk, list: readonly unknown[]): unknown[] {
  const copy: unknown[] = [];
  resumable.each(list.length, (at) => {
    const item = list[at];
    copy.push(Array.isArray(item) ? copied(resumable, item) : item);
  });
  return copy;
}

function slicesOf(steps: StepGenerator<void>): number {
  let slices = 0;
  while (!steps.next().done) slices++;
  return slices;
}
