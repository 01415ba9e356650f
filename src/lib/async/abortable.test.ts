import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Abortable } from './abortable.js';

const GONE = new Error('gone');

test('all who want to be told are, once, with the signal and without', () => {
  const request = new Abortable();
  const told: string[] = [];
  request.whenStopped(() => told.push('first'));
  request.whenStopped(() => told.push('second'));
  const { signal } = request;
  request.stop(GONE);
  request.stop(new Error('again'));
  assert.deepEqual(told, ['first', 'second']);
  assert.equal(signal.reason, GONE);
});

test('who took it back is not told', () => {
  const request = new Abortable();
  const told: string[] = [];
  const leave = request.whenStopped(() => told.push('left'));
  request.whenStopped(() => told.push('stayed'));
  leave();
  request.stop(GONE);
  assert.deepEqual(told, ['stayed']);
});

test('what has ended says so at once', () => {
  const request = new Abortable();
  request.stop(GONE);
  let told = 0;
  request.whenStopped(() => told++)();
  assert.equal(told, 1);
  assert.equal(request.signal.reason, GONE);
});
