// runs-on: every-node
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { type Reader, Reading } from './reading.js';

test('the time slice of an event-loop turn is exhausted in time, and renewed in the next one', async () => {
  let nowMs = 0;
  const reading = new Reading(() => nowMs);
  assert.equal(reading.over, false);
  nowMs = 4;
  assert.equal(reading.enough(1000), false);
  nowMs = 5;
  assert.equal(reading.over, true);
  assert.equal(reading.enough(1), true);
  await turn();
  assert.equal(reading.over, false);
});

test('waiting readers resume in order, as many in an event-loop turn as its time slice allows', async () => {
  let nowMs = 0;
  const reading = new Reading(() => nowMs);
  const read: number[] = [];
  const named = (name: number): Reader => ({
    resumeReading() {
      read.push(name);
      nowMs += 2;
    },
  });
  for (let name = 0; name < 5; name++) reading.later(named(name));
  await turn();
  assert.deepEqual(read, [0, 1, 2]);
  reading.later(named(5));
  await turn();
  assert.deepEqual(read, [0, 1, 2, 3, 4, 5]);
});

test('a reader that waits again resumes after the others', async () => {
  const reading = new Reading(() => 0);
  const read: string[] = [];
  const greedy = {
    resumeReading() {
      read.push('greedy');
      if (read.length < 4) reading.later(greedy);
    },
  };
  reading.later(greedy);
  reading.later({ resumeReading: () => void read.push('modest') });
  await turn();
  await turn();
  assert.deepEqual(read, ['greedy', 'modest', 'greedy']);
});

test('while others wait, a connection begins some requests and no more', () => {
  const reading = new Reading(() => 0);
  assert.equal(reading.enough(16), false);
  reading.later({ resumeReading: () => undefined });
  assert.equal(reading.enough(15), false);
  assert.equal(reading.enough(16), true);
});
