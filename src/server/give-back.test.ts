import assert from 'node:assert/strict';
import { test } from 'node:test';
import { giveBackWhenIdle, processParts } from './give-back.js';

/** A clock whose one timer the test fires. */
function server(heapBytes = 1): { pass: (usedMs: number) => void; collected: () => number; stop: () => void } {
  let next: (() => void) | undefined;
  let used = 0;
  let collected = 0;
  const stopping = new AbortController();
  giveBackWhenIdle({
    clock: {
      now: () => 0,
      after: (_ms, callback) => {
        next = callback;
        return () => undefined;
      },
    },
    stopping: stopping.signal,
    usedMs: () => used,
    heapBytes: () => heapBytes,
    collect: () => {
      collected++;
      used += 500;
    },
  });
  return {
    pass(usedMs) {
      used += usedMs;
      const run = next;
      next = undefined;
      run?.();
    },
    collected: () => collected,
    stop: () => stopping.abort(),
  };
}

test('when work is over all is collected, twice, and not again until there was more work', () => {
  const { pass, collected } = server();
  for (const busy of [50, 900, 700, 101]) pass(busy);
  assert.equal(collected(), 0);
  for (let i = 0; i < 10; i++) pass(10);
  assert.equal(collected(), 2);
  for (let i = 0; i < 40; i++) pass(20);
  assert.equal(collected(), 4, 'a minute of little work is work, too');
});

test('a busy server and a large heap are left alone', () => {
  const busy = server();
  for (let i = 0; i < 20; i++) busy.pass(150);
  assert.equal(busy.collected(), 0);
  const large = server(1024 ** 3);
  for (const used of [2000, 1, 1]) large.pass(used);
  assert.equal(large.collected(), 0);
});

test('a server that stops is not looked at again', () => {
  const { pass, collected, stop } = server();
  pass(2000);
  stop();
  for (let i = 0; i < 3; i++) pass(0);
  assert.equal(collected(), 0);
});

test('the process collects', () => {
  const { collect, usedMs, heapBytes } = processParts();
  let garbage: unknown = Array.from({ length: 1_000_000 }, (_, i) => ({ i }));
  const before = heapBytes();
  garbage = undefined;
  collect();
  assert.equal(garbage, undefined);
  assert.ok(heapBytes() < before - 10_000_000);
  assert.ok(usedMs() > 0);
});
