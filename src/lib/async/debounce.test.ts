import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../testing/manual-clock.js';
import { debounce } from './debounce.js';

test('many calls run the work once it is quiet, and a later call runs it again', async () => {
  const clock = new ManualClock();
  let done = 0;
  const trigger = debounce(clock, { quietMs: 20, atMostMs: 100 }, () => done++);
  for (let i = 0; i < 5; i++) trigger();
  await clock.move(15);
  trigger();
  await clock.move(15);
  assert.equal(done, 0);
  await clock.move(5);
  assert.equal(done, 1);
  await clock.move(1000);
  assert.equal(done, 1);
  trigger();
  await clock.move(20);
  assert.equal(done, 2);
});

test('calls that never pause still run the work', async () => {
  const clock = new ManualClock();
  let done = 0;
  const trigger = debounce(clock, { quietMs: 20, atMostMs: 100 }, () => done++);
  for (let i = 0; i < 25; i++) {
    trigger();
    await clock.move(10);
  }
  assert.equal(done, 2);
});
