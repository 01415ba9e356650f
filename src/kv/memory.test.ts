import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '../lib/testing/manual-clock.js';
import { kvContract } from './kv.contract.js';
import type { KvEvent } from './kv.js';
import { type MemoryStore, openMemoryStore } from './memory.js';

kvContract('memory store', { open: async () => openMemoryStore(), close: (kv) => kv.close() });

const bytes = (text: string): Buffer => Buffer.from(text);
const ALL = { start: '/', end: '0' };

async function contents(kv: MemoryStore, revision?: number): Promise<string[]> {
  const { kvs } = await kv.range({ ...ALL, ...(revision !== undefined && { revision }) });
  return kvs.map(({ key, value }) => `${key}=${value.toString()}`);
}

/** One of each: a key that stays, one that is changed, one that is deleted and one that is new. */
async function changedStore(): Promise<{ kv: MemoryStore; marked: ReturnType<MemoryStore['snapshot']> }> {
  const kv = openMemoryStore();
  for (const key of ['/stays', '/changed', '/deleted']) await kv.create(key, bytes('1'));
  const marked = kv.snapshot();
  await kv.update('/changed', 3, bytes('2'));
  await kv.delete('/deleted', 4);
  await kv.create('/new', bytes('1'));
  return { kv, marked };
}

it('brings a marked state back by ordinary changes, of which watches hear', async () => {
  const { kv, marked } = await changedStore();
  const events: KvEvent[] = [];
  kv.watch(
    { prefix: '/' },
    { events: (batch) => void events.push(...batch), progress: () => undefined, failed: assert.fail },
  );
  assert.equal(await kv.restore(marked), 3);
  assert.deepEqual(await contents(kv), ['/changed=1', '/deleted=1', '/stays=1']);
  assert.deepEqual(
    events.map(({ type, key, revision }) => `${revision} ${type} ${key}`),
    ['8 put /changed', '9 put /deleted', '10 delete /new'],
  );
  assert.equal(await kv.restore(marked), 0);
  assert.equal(await kv.revision(), 10);
});

it('hands the changes of a restored state over in batches', async () => {
  const kv = openMemoryStore();
  const marked = kv.snapshot();
  for (let i = 0; i < 1000; i++) await kv.create(`/a/${i}`, bytes('1'));
  const batches: number[] = [];
  kv.watch(
    { prefix: '/a/' },
    { events: (batch) => void batches.push(batch.length), progress: () => undefined, failed: assert.fail },
  );
  assert.equal(await kv.restore(marked), 1000);
  assert.equal(
    batches.reduce((sum, size) => sum + size),
    1000,
  );
  assert.ok(batches.length <= 10, String(batches));
});

it('answers a value by its revision at once, also of what was replaced or deleted as long as history has it', async () => {
  const { kv } = await changedStore();
  const valueAt = (key: string, revision: number): string | undefined => kv.currentValue(key, revision)?.toString();
  assert.deepEqual([valueAt('/changed', 5), valueAt('/changed', 3), valueAt('/deleted', 4)], ['2', '1', '1']);
  assert.deepEqual(
    [valueAt('/deleted', 6), valueAt('/stays', 3), valueAt('/none', 9)],
    [undefined, undefined, undefined],
  );
  await kv.compact(7);
  assert.deepEqual(
    [valueAt('/changed', 5), valueAt('/changed', 3), valueAt('/deleted', 4)],
    ['2', undefined, undefined],
  );
  await kv.close();
  assert.throws(() => valueAt('/stays', 2), { code: 'closed' });
});

it('shares values with the states that begin with its own', async () => {
  const { kv, marked } = await changedStore();
  const fork = openMemoryStore({ from: marked });
  assert.equal((await fork.get('/stays'))?.value, (await kv.get('/stays'))?.value);
});

it('leaves alone what was changed and changed back', async () => {
  const { kv, marked } = await changedStore();
  const current = await kv.get('/changed');
  await kv.update('/changed', current?.modRevision ?? 0, bytes('1'));
  assert.equal(await kv.restore(marked), 2);
});

it('restores also what others write meanwhile', async () => {
  const { kv, marked } = await changedStore();
  kv.watch(
    { prefix: '/new' },
    {
      events: ([event]) => void (event?.type === 'delete' && event.revision < 20 && kv.create('/new', bytes('again'))),
      progress: () => undefined,
      failed: assert.fail,
    },
  );
  for (let i = 0; i < 3000; i++) await kv.create(`/filler-${i}`, bytes('1'));
  await kv.restore(marked);
  assert.deepEqual(await contents(kv), ['/changed=1', '/deleted=1', '/stays=1']);
});

it('keeps a marked state through compaction', async () => {
  const { kv, marked } = await changedStore();
  await kv.compact(await kv.revision());
  await kv.restore(marked);
  assert.deepEqual(await contents(kv), ['/changed=1', '/deleted=1', '/stays=1']);
});

it('begins with a state and its revisions, and goes its own way', async () => {
  const { kv, marked } = await changedStore();
  const fork = openMemoryStore({ from: marked });
  assert.deepEqual(await contents(fork), ['/changed=1', '/deleted=1', '/stays=1']);
  assert.equal(await fork.revision(), 4);
  assert.equal((await fork.get('/changed'))?.modRevision, 3);
  await assert.rejects(contents(fork, 3), { code: 'compacted' });
  assert.deepEqual(await fork.update('/changed', 3, bytes('fork')), { done: true, revision: 5 });
  assert.deepEqual(await contents(kv), ['/changed=2', '/new=1', '/stays=1']);
  assert.deepEqual(await contents(fork, 4), ['/changed=1', '/deleted=1', '/stays=1']);
});

/** Three keys that live for 10 s, and a mark at their second 4. */
async function expiringStore(): Promise<{
  kv: MemoryStore;
  clock: ManualClock;
  marked: ReturnType<MemoryStore['snapshot']>;
}> {
  const clock = new ManualClock();
  const kv = openMemoryStore({ clock });
  for (const key of ['/stays', '/changed', '/deleted']) await kv.create(key, bytes('1'), { ttlSeconds: 10 });
  await clock.move(4000);
  return { kv, clock, marked: kv.snapshot() };
}

it('gives keys back the time to live that they had left in a marked state', async () => {
  const { kv, clock, marked } = await expiringStore();
  await kv.update('/changed', 3, bytes('2'));
  await kv.delete('/deleted', 4);
  await clock.move(5000);
  assert.equal(await kv.restore(marked), 2);
  await clock.move(5999);
  assert.deepEqual(await contents(kv), ['/changed=1', '/deleted=1', '/stays=1']);
  await clock.move(1);
  assert.deepEqual(await contents(kv), []);
  assert.equal(await kv.restore(marked), 3);
  await clock.move(6000);
  assert.deepEqual(await contents(kv), []);
});

it('lets nothing expire that did not in the marked state, though its value is the same', async () => {
  const clock = new ManualClock();
  const kv = openMemoryStore({ clock });
  await kv.create('/a', bytes('1'));
  const marked = kv.snapshot();
  await kv.update('/a', 2, bytes('1'), { ttlSeconds: 10 });
  assert.equal(await kv.restore(marked), 0);
  await clock.move(20_000);
  assert.deepEqual(await contents(kv), ['/a=1']);
});

it('begins with the times to live of a state, and expires by ordinary changes', async () => {
  const { kv, clock, marked } = await expiringStore();
  await clock.move(20_000);
  const fork = openMemoryStore({ clock, from: marked });
  const events: string[] = [];
  fork.watch(
    { prefix: '/' },
    {
      events: (batch) => void events.push(...batch.map(({ type, key }) => `${type} ${key}`)),
      progress: () => undefined,
      failed: assert.fail,
    },
  );
  await clock.move(5999);
  assert.deepEqual(events, []);
  await clock.move(1);
  assert.deepEqual(events, ['delete /changed', 'delete /deleted', 'delete /stays']);
  assert.deepEqual(await contents(kv), []);
});

it('drops the older half of a history that has grown too large', async () => {
  const kv = openMemoryStore({ maxHistoryBytes: 1000 });
  for (let i = 0; i < 100; i++) await kv.create(`/${i}`, Buffer.alloc(90));
  const oldest = kv.compactedRevision();
  assert.ok(oldest > 80 && oldest < 101, String(oldest));
  assert.equal((await contents(kv, oldest)).length, oldest - 1);
  await assert.rejects(contents(kv, oldest - 1), { code: 'compacted' });
  await kv.create('/large', Buffer.alloc(5000));
  assert.equal(
    (await kv.changes?.({ prefix: '/', startRevision: 102, endRevision: 102, maxBytes: 1 }))?.events.length,
    1,
  );
});
