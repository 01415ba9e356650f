import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Abortable } from './abortable.js';

const GONE = new Error('gone');

test('every listener runs once, with the signal and without', () => {
  const request = new Abortable();
  const calls: string[] = [];
  request.whenStopped(() => calls.push('first'));
  request.whenStopped(() => calls.push('second'));
  const { signal } = request;
  request.stop(GONE);
  request.stop(new Error('again'));
  assert.deepEqual(calls, ['first', 'second']);
  assert.equal(signal.reason, GONE);
});

test('a listener that was removed does not run', () => {
  const request = new Abortable();
  const calls: string[] = [];
  const leave = request.whenStopped(() => calls.push('left'));
  request.whenStopped(() => calls.push('stayed'));
  leave();
  request.stop(GONE);
  assert.deepEqual(calls, ['stayed']);
});

test('what has ended says so at once', () => {
  const request = new Abortable();
  request.stop(GONE);
  let calls = 0;
  request.whenStopped(() => calls++)();
  assert.equal(calls, 1);
  assert.equal(request.signal.reason, GONE);
});
