import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whenAborted } from './when-aborted.js';

test('all who wait are told once, those who left are not, and who comes late is told at once', () => {
  const controller = new AbortController();
  const told: string[] = [];
  const leave = whenAborted(controller.signal, () => told.push('left'));
  whenAborted(controller.signal, () => told.push('first'));
  whenAborted(controller.signal, () => told.push('second'));
  leave();
  controller.abort();
  controller.abort();
  whenAborted(controller.signal, () => told.push('late'))();
  assert.deepEqual(told, ['first', 'second', 'late']);
});
