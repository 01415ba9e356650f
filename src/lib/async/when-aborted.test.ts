import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whenAborted } from './when-aborted.js';

test('each listener runs once, a removed one does not, and a late one runs at once', () => {
  const controller = new AbortController();
  const calls: string[] = [];
  const leave = whenAborted(controller.signal, () => calls.push('left'));
  whenAborted(controller.signal, () => calls.push('first'));
  whenAborted(controller.signal, () => calls.push('second'));
  leave();
  controller.abort();
  controller.abort();
  whenAborted(controller.signal, () => calls.push('late'))();
  assert.deepEqual(calls, ['first', 'second', 'late']);
});
