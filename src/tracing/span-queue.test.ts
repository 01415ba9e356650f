import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../lib/testing/manual-clock.js';
import type { RecordedSpan } from './recorded-span.js';
import { RetryableFailure, SpanQueue } from './span-queue.js';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setup(deliver: (count: number) => Promise<void>) {
  const clock = new ManualClock();
  const dropped: Record<string, number> = {};
  const batches: number[] = [];
  const queue = new SpanQueue({
    clock,
    deliver(spans) {
      batches.push(spans.length);
      return deliver(spans.length);
    },
    onDropped: (count, why) => (dropped[why] = (dropped[why] ?? 0) + count),
    onFailed: () => undefined,
  });
  const add = (count: number): void => {
    for (let i = 0; i < count; i++) queue.add({} as RecordedSpan);
  };
  return { clock, dropped, batches, queue, add };
}

describe('spans on their way to the collector', () => {
  it('go together after five seconds', async () => {
    const { clock, batches, add } = setup(() => Promise.resolve());
    add(3);
    await clock.move(4_999);
    assert.deepEqual(batches, []);
    await clock.move(1);
    assert.deepEqual(batches, [3]);
  });

  it('go at once when a batch is full, and the rest at its time', async () => {
    const { clock, batches, add } = setup(() => Promise.resolve());
    add(600);
    await settled();
    assert.deepEqual(batches, [512]);
    await clock.move(5_000);
    assert.deepEqual(batches, [512, 88]);
  });

  it('are dropped beyond what may wait, and counted', async () => {
    const { dropped, add, batches } = setup(() => new Promise(() => undefined));
    add(512);
    await settled();
    add(3000);
    assert.deepEqual(batches, [512]);
    assert.deepEqual(dropped, { 'queue-full': 3000 - 2048 });
  });

  it('are tried again while the collector is away, and dropped after half a minute', async () => {
    const { clock, dropped, batches, add } = setup(() => Promise.reject(new RetryableFailure('away')));
    add(1);
    for (let i = 0; i < 8; i++) await clock.move(5_000);
    assert.deepEqual(dropped, { 'not-taken': 1 });
    assert.equal(batches.length, 6);
  });

  it('are dropped at once when the collector does not want them', async () => {
    const { clock, dropped, batches, add } = setup(() => Promise.reject(new Error('no')));
    add(1);
    await clock.move(5_000);
    assert.deepEqual(dropped, { 'not-taken': 1 });
    add(1);
    await clock.move(5_000);
    assert.deepEqual(batches, [1, 1], 'what comes later is sent');
  });

  it('are all sent at the end, and none after it', async () => {
    const { batches, dropped, queue, add } = setup(() => Promise.resolve());
    add(500);
    await queue.close(5_000);
    add(1);
    assert.deepEqual(batches, [500]);
    assert.deepEqual(dropped, { shutdown: 1 });
  });

  it('do not keep the server from ending: a collector that is silent gets its time, one that is away one more try', async () => {
    const silent = setup(() => new Promise(() => undefined));
    silent.add(700);
    const closing = silent.queue.close(5_000);
    await settled();
    await silent.clock.move(5_000);
    await closing;
    assert.deepEqual(silent.dropped, { shutdown: 188 });
    const away = setup(() => Promise.reject(new RetryableFailure('away')));
    away.add(1);
    await away.clock.move(5_000);
    away.add(1);
    await away.queue.close(5_000);
    assert.deepEqual(away.dropped, { shutdown: 2 });
    assert.deepEqual(away.batches, [1, 1, 1]);
  });
});
