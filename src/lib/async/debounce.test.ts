import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../testing/manual-clock.js';
import { debounce } from './debounce.js';

test('what is asked for many times is done once it is quiet, and again when it is asked for afterwards', async () => {
  const clock = new ManualClock();
  let done = 0;
  const ask = debounce(clock, { quietMs: 20, atMostMs: 100 }, () => done++);
  for (let i = 0; i < 5; i++) ask();
  await clock.move(15);
  ask();
  await clock.move(15);
  assert.equal(done, 0);
  await clock.move(5);
  assert.equal(done, 1);
  await clock.move(1000);
  assert.equal(done, 1);
  ask();
  await clock.move(20);
  assert.equal(done, 2);
});

test('what is asked for again and again is done all the same', async () => {
  const clock = new ManualClock();
  let done = 0;
  const ask = debounce(clock, { quietMs: 20, atMostMs: 100 }, () => done++);
  for (let i = 0; i < 25; i++) {
    ask();
    await clock.move(10);
  }
  assert.equal(done, 2);
});
