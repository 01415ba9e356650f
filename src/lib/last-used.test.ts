import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LastUsed } from './last-used.js';

test('keeps what was asked for last, and makes the rest anew', () => {
  const made: string[] = [];
  const values = new LastUsed<{ key: string }>(2);
  const get = (key: string) => values.get(key, () => (made.push(key), { key }));
  get('a');
  get('b');
  assert.equal(get('a').key, 'a');
  get('c');
  assert.deepEqual(made, ['a', 'b', 'c']);
  assert.equal(values.peek('b'), undefined);
  assert.equal(values.peek('a')?.key, 'a');
});

test('what could not be made takes no room', () => {
  const values = new LastUsed<object>(1);
  const kept = values.get('a', () => ({}));
  assert.equal(
    values.get('b', () => undefined),
    undefined,
  );
  assert.equal(values.peek('a'), kept);
});
