import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastLoaded, WorkerLoad } from './placement.js';

interface TestWorker {
  readonly load: WorkerLoad;
  /** Cores that it needs for each connection, and beside them. */
  readonly perConnection: number;
  beside: number;
}

const REPORT_EVERY_MS = 1_000;

function setUp(...needs: readonly { readonly perConnection: number; readonly beside: number }[]) {
  const workers = needs.map((need): TestWorker => ({ ...need, load: new WorkerLoad() }));
  const used = workers.map(() => 0);
  let nowMs = 0;
  const report = (): void => {
    for (const [i, { load }] of workers.entries()) load.report(used[i] ?? 0, nowMs);
  };
  report();
  return {
    workers,
    /** So many connections are opened at once. */
    open: (count: number): void => {
      for (let i = 0; i < count; i++) leastLoaded(workers)?.load.add(1, nowMs);
    },
    closeAll: (): void => {
      for (const { load } of workers) load.add(-load.connections, nowMs);
    },
    pass: (ms: number): void => {
      for (let passed = 0; passed < ms; passed += REPORT_EVERY_MS) {
        for (const [i, { load, perConnection, beside }] of workers.entries()) {
          used[i] = (used[i] ?? 0) + (perConnection * load.connections + beside) * REPORT_EVERY_MS;
        }
        nowMs += REPORT_EVERY_MS;
        report();
      }
    },
    spread: () => workers.map(({ load }) => load.connections),
  };
}

test('workers that need as much for a connection get as many, whatever that is', () => {
  const { open, closeAll, pass, spread } = setUp({ perConnection: 0.2, beside: 0 }, { perConnection: 0.2, beside: 0 });
  open(8);
  assert.deepEqual(spread(), [4, 4]);
  pass(20_000);
  closeAll();
  open(8);
  assert.deepEqual(spread(), [4, 4]);
});

test('a worker that has work beside its connections gets as many fewer as make up for it', () => {
  const { open, closeAll, pass, spread } = setUp(
    { perConnection: 0.1, beside: 0.4 },
    { perConnection: 0.1, beside: 0 },
  );
  open(8);
  assert.deepEqual(spread(), [4, 4], 'nothing is known yet');
  for (let i = 0; i < 3; i++) {
    pass(3_000);
    closeAll();
    pass(3_000);
    open(8);
  }
  // 0.2 + 0.4 cores beside 0.6.
  assert.deepEqual(spread(), [2, 6]);
});

test('what a worker did long ago does not count any more', () => {
  const { workers, open, closeAll, pass, spread } = setUp(
    { perConnection: 0.1, beside: 0.4 },
    { perConnection: 0.1, beside: 0 },
  );
  open(8);
  pass(10_000);
  closeAll();
  open(8);
  assert.deepEqual(spread(), [2, 6]);
  for (const worker of workers) worker.beside = 0;
  pass(100_000);
  closeAll();
  open(8);
  assert.deepEqual(spread(), [4, 4]);
});

test('however much a worker has to do beside them, it gets some', () => {
  const { open, closeAll, pass, spread } = setUp({ perConnection: 0.001, beside: 5 }, { perConnection: 0, beside: 0 });
  open(100);
  pass(60_000);
  closeAll();
  open(100);
  assert.deepEqual(spread(), [25, 75]);
});

test('what is known of a few seconds only does not count', () => {
  const { open, closeAll, pass, spread } = setUp(
    { perConnection: 0.1, beside: 0.4 },
    { perConnection: 0.1, beside: 0 },
  );
  open(8);
  pass(4_000);
  closeAll();
  open(8);
  assert.deepEqual(spread(), [4, 4]);
});

test('workers that have next to nothing to do get as many', () => {
  const { open, closeAll, pass, spread } = setUp(
    { perConnection: 0, beside: 0.05 },
    { perConnection: 0, beside: 0.01 },
  );
  open(8);
  pass(20_000);
  closeAll();
  open(8);
  assert.deepEqual(spread(), [4, 4]);
});
