// runs: alone (what the process has on its heap is measured)
// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pollUntil } from '../../lib/testing/poll-until.js';
import { collectWhenIdle, processParts } from './idle-gc.js';

interface Server {
  readonly heap: { mib: number; msPerMib: number };
  readonly pass: (usedMs: number) => void;
  readonly collected: () => string[];
  readonly stop: () => void;
}

/** A clock whose one timer the test fires, and a heap that takes its time. */
function server({ heapMib = 20, msPerMib = 1 } = {}): Server {
  let next: (() => void) | undefined;
  let now = 0;
  const heap = { mib: heapMib, msPerMib };
  let used = 0;
  const collected: string[] = [];
  const stopping = new AbortController();
  collectWhenIdle({
    clock: {
      now: () => now,
      after: (_ms, callback) => {
        next = callback;
        return () => undefined;
      },
    },
    stopping: stopping.signal,
    usedMs: () => used,
    heapBytes: () => heap.mib * 1024 ** 2,
    collect: (which) => {
      collected.push(which);
      used += 500;
      if (which === 'all') now += heap.mib * heap.msPerMib;
    },
  });
  return {
    heap,
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
  assert.deepEqual(collected(), []);
  for (let i = 0; i < 10; i++) pass(10);
  assert.deepEqual(collected(), ['all', 'young', 'young', 'all']);
  for (let i = 0; i < 24; i++) pass(20);
  assert.equal(collected().length, 8, 'a minute of little work is work, too');
});

test('a busy server is left alone, also half way', () => {
  const { pass, collected } = server();
  for (let i = 0; i < 20; i++) pass(150);
  assert.deepEqual(collected(), []);
  for (const used of [10, 150, 10]) pass(used);
  assert.deepEqual(collected(), ['all', 'young']);
});

test('a heap that would take more than 50 ms is collected in slices', () => {
  const { pass, collected, heap } = server({ heapMib: 51 });
  for (const used of [2000, 1, 1, 1]) pass(used);
  assert.deepEqual(collected(), ['gradually', 'young', 'young']);
  heap.mib = 49;
  pass(1);
  assert.deepEqual(collected(), ['gradually', 'young', 'young', 'all']);
});

test('how long it would take is known from the last time', () => {
  const { pass, collected, heap } = server({ heapMib: 30, msPerMib: 0.5 });
  const work = (): string[] => {
    const before = collected().length;
    for (const used of [2000, 1, 1, 1, 1]) pass(used);
    return collected().slice(before);
  };
  assert.deepEqual(work(), ['all', 'young', 'young', 'all']);
  heap.mib = 99;
  assert.deepEqual(work(), ['all', 'young', 'young', 'all'], 'a fast machine collects more');
  heap.msPerMib = 5;
  assert.deepEqual(work(), ['all', 'young', 'young', 'gradually'], 'the first was slow');
  heap.mib = 30;
  assert.deepEqual(work(), ['gradually', 'young', 'young', 'gradually'], 'at that pace all would still take 90 ms');
  assert.deepEqual(work(), ['all', 'young', 'young', 'gradually'], 'but it is not held against it for ever');
});

test('a server that stops is not looked at again', () => {
  const { pass, collected, stop } = server();
  pass(2000);
  stop();
  for (let i = 0; i < 3; i++) pass(0);
  assert.deepEqual(collected(), []);
});

test('the process collects', () => {
  const { collect, usedMs, heapBytes } = processParts();
  let garbage: unknown = Array.from({ length: 1_000_000 }, (_, i) => ({ i }));
  const before = heapBytes();
  garbage = undefined;
  collect('young');
  collect('all');
  assert.equal(garbage, undefined);
  assert.ok(heapBytes() < before - 10_000_000);
  assert.ok(usedMs() > 0);
});

test('the process collects in slices, and yields between them', async () => {
  const { collect, heapBytes } = processParts();
  let garbage: unknown[] = Array.from({ length: 500_000 }, (_, i) => ({ i }));
  // They have become old, and V8 has no reason of its own to look at them again.
  collect('all');
  garbage.push(...Array.from({ length: 50_000 }, (_, i) => ({ i })));
  collect('young');
  const before = heapBytes();
  garbage = [];
  collect('gradually');
  const isCollected = (): boolean => heapBytes() <= before - 10_000_000;
  assert.ok(!isCollected());
  await pollUntil(isCollected);
  assert.equal(garbage.length, 0);
});
