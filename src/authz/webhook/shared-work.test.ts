import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedWork } from './shared-work.js';

function begin() {
  let signal = AbortSignal.abort();
  const work = new SharedWork((passed) => {
    signal = passed;
    return new Promise<never>(() => undefined);
  });
  return { work, signal };
}

test('work ends when the last of those who waited for it leaves, with the reason of that one', () => {
  const { work, signal } = begin();
  const [first, last] = [new AbortController(), new AbortController()];
  void work.join(first);
  void work.join(last);
  first.abort(new Error('first'));
  assert.deepEqual([signal.aborted, work.abandoned], [false, false]);
  last.abort(new Error('last'));
  assert.deepEqual([work.abandoned, String(signal.reason)], [true, 'Error: last']);
});

test('who waits to the end keeps work alive, and who comes too late does not', () => {
  const { work } = begin();
  void work.join(undefined);
  void work.join({ signal: AbortSignal.abort() });
  assert.equal(work.abandoned, false);
});
