import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '../testing/manual-clock.js';
import { afterPeriod } from './clock.js';

it('those who look every period do so at the same time, whenever they began', async () => {
  const clock = new ManualClock();
  const beganMs = clock.now();
  const calls: number[] = [];
  const look = (): void => void calls.push(clock.now() - beganMs);
  afterPeriod(clock, 1000, look);
  await clock.move(400);
  afterPeriod(clock, 1000, look);
  await clock.move(300);
  // Soon after the first of these would be too soon.
  afterPeriod(clock, 1000, look);
  await clock.move(2000);
  assert.deepEqual(calls, [1000, 1000, 2000]);
});
