import assert from 'node:assert/strict';
import test from 'node:test';
import { sortSteps } from './sort-steps.js';

test('many items are sorted in steps, and what compares as equal keeps its order', () => {
  const items = Array.from({ length: 50_000 }, (_, i) => ({ rank: (i * 7919) % 1009, i }));
  const compare = (left: { rank: number }, right: { rank: number }): number => left.rank - right.rank;
  const wanted = items.toSorted(compare);
  const steps = sortSteps(items, compare);
  let count = 0;
  let result = steps.next();
  for (; result.done !== true; result = steps.next()) count++;
  assert.deepEqual(result.value, wanted);
  assert.ok(count > 50, `${count} steps`);
});

test('few items are sorted at once', () => {
  const result = sortSteps(['b', 'c', 'a'], (left, right) => (left < right ? -1 : 1)).next();
  assert.deepEqual(result, { done: true, value: ['a', 'b', 'c'] });
});
