import { logTo, silentLog } from '../testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkQueue } from './work-queue.js';

/** Timers wait until the test lets them run. */
function heldClock() {
  const timers: { ms: number; run: () => void }[] = [];
  return {
    timers,
    clock: { now: () => 0, after: (ms: number, run: () => void) => (timers.push({ ms, run }), () => undefined) },
  };
}

const nextImmediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a key is worked on once at a time, and again when it was added meanwhile', async () => {
  const { clock } = heldClock();
  const started: string[] = [];
  const finish: (() => void)[] = [];
  const queue = new WorkQueue({
    name: 'q',
    work: (key) => {
      started.push(key);
      return new Promise((resolve) => finish.push(() => resolve('done')));
    },
    concurrency: 2,
    clock,
    signal: new AbortController().signal,
    log: silentLog,
  });
  for (const key of ['a', 'a', 'b', 'c', 'a']) queue.add(key);
  assert.deepEqual(started, ['a', 'b'], 'as many as there are workers');
  finish[0]?.();
  await nextImmediate();
  assert.deepEqual(started, ['a', 'b', 'c']);
  finish[1]?.();
  await nextImmediate();
  assert.deepEqual(started, ['a', 'b', 'c', 'a']);
});

test('what fails comes back after pauses that double up to a limit, and start anew after success', async () => {
  const { clock, timers } = heldClock();
  const logged: string[] = [];
  let outcome: 'fails' | 'again' | 'done' = 'fails';
  const stop = new AbortController();
  const queue = new WorkQueue({
    name: 'q',
    work: async () => {
      if (outcome === 'fails') throw new Error('no luck');
      return outcome;
    },
    concurrency: 1,
    maxPauseMs: 150,
    clock,
    signal: stop.signal,
    log: logTo((message) => logged.push(message)),
  });
  queue.add('k');
  for (let i = 0; i < 3; i++) {
    await nextImmediate();
    timers[i]?.run();
  }
  await nextImmediate();
  assert.deepEqual(
    timers.map(({ ms }) => ms),
    [50, 100, 150, 150],
  );
  assert.deepEqual(
    logged,
    Array.from({ length: 4 }, () => 'q: k: no luck'),
  );
  outcome = 'done';
  timers[3]?.run();
  await nextImmediate();
  outcome = 'again';
  queue.add('k');
  await nextImmediate();
  assert.equal(timers[4]?.ms, 50);
  assert.equal(logged.length, 4, 'what is only not done yet is no error');
  stop.abort();
  timers[4]?.run();
  await nextImmediate();
  assert.equal(timers.length, 5);
});
