import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../testing/manual-clock.js';
import { delayFirstStatus } from './delay-first-status.js';

test('a new object is let be for a while, one with a status is looked at right away', async () => {
  const clock = new ManualClock();
  const looked: string[] = [];
  delayFirstStatus(true, clock, () => looked.push('new'));
  delayFirstStatus(false, clock, () => looked.push('known'));
  assert.deepEqual(looked, ['known']);
  await clock.move(20);
  assert.deepEqual(looked, ['known', 'new']);
});
