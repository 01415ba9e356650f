import assert from 'node:assert/strict';
import test from 'node:test';
import { joinSteps } from './join-steps.js';

test('many pieces are put together in steps', () => {
  const pieces = Array.from({ length: 300 }, (_, i) => Buffer.alloc(100_000 + i, i));
  const steps = joinSteps(pieces);
  let count = 0;
  let result = steps.next();
  for (; result.done !== true; result = steps.next()) count++;
  assert.ok(result.value.equals(Buffer.concat(pieces)));
  assert.ok(count > 10, `${count} steps`);
});

test('one large piece is copied in steps', () => {
  const piece = Buffer.alloc(9_000_000, 'abc');
  const steps = joinSteps([Buffer.from('x'), piece, Buffer.from('y')]);
  let count = 0;
  let result = steps.next();
  for (; result.done !== true; result = steps.next()) count++;
  assert.ok(result.value.equals(Buffer.concat([Buffer.from('x'), piece, Buffer.from('y')])));
  assert.equal(count, 4);
});

test('what is small is put together at once', () => {
  const result = joinSteps([Buffer.from('a'), Buffer.from('bc')]).next();
  assert.deepEqual(result, { done: true, value: Buffer.from('abc') });
});
