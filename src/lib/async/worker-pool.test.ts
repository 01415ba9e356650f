import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offload, RunInline, type WorkerPool, workersForBytes } from './worker-pool.js';

const workers = { minBytes: 10 } as WorkerPool;

test('work goes to workers from their size on', () => {
  assert.equal(workersForBytes(workers, 9), undefined);
  assert.equal(workersForBytes(workers, 10), workers);
  assert.equal(workersForBytes(undefined, 10), undefined);
});

test('work without workers is done inline, at once', () => {
  assert.equal(
    offload(
      undefined,
      async () => 'worker',
      () => 'inline',
    ),
    'inline',
  );
});

test('work that workers cannot do is done inline; how it failed is reported otherwise', async () => {
  const inline = (): string => 'inline';
  assert.equal(await offload(workers, async () => 'worker', inline), 'worker');
  assert.equal(await offload(workers, () => Promise.reject(new RunInline()), inline), 'inline');
  await assert.rejects(async () => offload(workers, () => Promise.reject(new Error('broken')), inline), /broken/);
});
