import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeat } from './repeat.js';

test('a first time that fails is told and tried again, and the others follow', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const stop = new AbortController();
  const told: string[] = [];
  let times = 0;
  const task = async (): Promise<void> => {
    if (++times < 3) throw new Error('not yet');
  };
  const begun = repeat(task, { everyMs: 60_000, signal: stop.signal, log: (message) => void told.push(message) });
  for (let second = 0; second < 2; second++) {
    await new Promise(setImmediate);
    t.mock.timers.tick(1000);
  }
  await begun;
  assert.equal(times, 3);
  assert.deepEqual(told, ['not yet', 'not yet']);
  t.mock.timers.tick(60_000);
  assert.equal(times, 4);
  stop.abort();
});
