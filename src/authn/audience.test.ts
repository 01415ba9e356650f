import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intersect } from './audience.js';

test('audiences that both sides know are returned in the order and as often as they are wanted', () => {
  assert.deepEqual(intersect(['a', 'b'], ['c', 'b', 'a', 'b']), ['b', 'a', 'b']);
  assert.deepEqual(intersect(['a', 'a'], ['a']), ['a']);
  const many = Array.from({ length: 100 }, (_, i) => `a${i}`);
  assert.deepEqual(intersect(many, ['a7', 'x', 'a3', 'a7']), ['a7', 'a3', 'a7']);
});
