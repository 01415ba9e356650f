import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Uuids } from './uuids.js';

test('each id is of version 4, and no other has it', () => {
  const ids = new Uuids();
  // More than the random bytes that are drawn together are for.
  const made = Array.from({ length: 1000 }, () => ids.next());
  for (const id of made) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(new Set(made).size, made.length);
});

test('every digit that is not fixed has every value', () => {
  const ids = new Uuids();
  const seen = Array.from({ length: 36 }, () => new Set<string>());
  for (let i = 0; i < 2000; i++) for (const [at, digit] of ids.next().split('').entries()) seen[at]?.add(digit);
  const counts = seen.map(({ size }) => size).filter((size) => size > 4);
  assert.deepEqual(new Set(counts), new Set([16]));
  assert.equal(counts.length, 30);
});
