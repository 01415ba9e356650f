import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandClock } from './hand-clock.js';
import { whenSettled } from './settle.js';

test('a new object is let be for a while, one with a status is looked at right away', async () => {
  const clock = new HandClock();
  const looked: string[] = [];
  whenSettled(true, clock, () => looked.push('new'));
  whenSettled(false, clock, () => looked.push('known'));
  assert.deepEqual(looked, ['known']);
  await clock.move(20);
  assert.deepEqual(looked, ['known', 'new']);
});
