import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandClock } from './hand-clock.js';
import { onceIn } from './once-in.js';

test('what is asked for many times is done once, and again when it is asked for afterwards', async () => {
  const clock = new HandClock();
  let done = 0;
  const ask = onceIn(clock, 100, () => done++);
  for (let i = 0; i < 5; i++) ask();
  await clock.move(60);
  ask();
  assert.equal(done, 0);
  await clock.move(40);
  assert.equal(done, 1);
  await clock.move(1000);
  assert.equal(done, 1);
  ask();
  await clock.move(100);
  assert.equal(done, 2);
});
