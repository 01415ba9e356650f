// runs-on: every-node
import { logTo, silentLog } from '../testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attempt, insist, repeat } from './repeat.js';

test('a first run that fails is logged and tried again, and the others follow', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const stop = new AbortController();
  const logged: string[] = [];
  let times = 0;
  const task = async (): Promise<void> => {
    if (++times < 3) throw new Error('not yet');
  };
  const begun = repeat(task, {
    everyMs: 60_000,
    signal: stop.signal,
    log: logTo((message) => void logged.push(message)),
  });
  for (let second = 0; second < 2; second++) {
    await new Promise(setImmediate);
    t.mock.timers.tick(1000);
  }
  await begun;
  assert.equal(times, 3);
  assert.deepEqual(logged, ['not yet', 'not yet']);
  t.mock.timers.tick(60_000);
  assert.equal(times, 4);
  stop.abort();
});

test('an attempt that fails keeps nobody waiting, and is made again until it succeeds and then every so often', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const stop = new AbortController();
  const logged: string[] = [];
  let times = 0;
  const task = async (): Promise<void> => {
    if (++times < 50) throw new Error('not yet');
  };
  await attempt(task, { everyMs: 60_000, signal: stop.signal, log: logTo((message) => void logged.push(message)) });
  assert.equal(times, 1);
  for (let second = 0; second < 49; second++) {
    await new Promise(setImmediate);
    t.mock.timers.tick(1000);
  }
  await new Promise(setImmediate);
  assert.equal(times, 50);
  assert.equal(logged.length, 49);
  t.mock.timers.tick(60_000);
  assert.equal(times, 51);
  stop.abort();
});

test('insisting ends with the last error when the timeout is over', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let times = 0;
  const task = async (): Promise<void> => {
    times++;
    throw new Error('never');
  };
  const { signal } = new AbortController();
  const rejected = assert.rejects(insist(task, { signal, log: silentLog, timeoutMs: 3000 }), {
    message: 'never',
  });
  for (let second = 0; second < 3; second++) {
    await new Promise(setImmediate);
    t.mock.timers.tick(1000);
  }
  await rejected;
  assert.equal(times, 3);
});
