import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../testing/manual-clock.js';
import { ThreadUseHistory } from './thread-use.js';

test('what the thread did since a moment, from the sample before it on', async () => {
  const clock = new ManualClock();
  let busyMs = 0;
  let collectingMs = 0;
  const history = new ThreadUseHistory(clock, { busyMs: () => busyMs, collectingMs: () => collectingMs });
  const startMs = clock.now();
  for (let i = 0; i < 10; i++) {
    busyMs += 60;
    await clock.move(100);
  }
  collectingMs += 30;
  busyMs += 50;
  assert.deepEqual(history.since(startMs + 550), { busyMs: 350, collectingMs: 30, longestHoldMs: 0 });
  assert.deepEqual(history.since(startMs + 1000), { busyMs: 50, collectingMs: 30, longestHoldMs: 0 });
});
