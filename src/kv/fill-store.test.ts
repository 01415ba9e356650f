import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../lib/testing/manual-clock.js';
import { fillStore, markerKey, refuseFilled } from './fill-store.js';
import type { KeyValueStore } from './kv.js';
import { openMemoryStore } from './memory.js';
import type { SnapshotEntry } from './snapshot.js';

const PREFIX = '/registry';
const clock = new ManualClock();
const nowMs = (): number => clock.now();

const entry = (name: string, value: string, expiresAtMs = 0): SnapshotEntry => ({
  key: `${PREFIX}/pods/${name}`,
  name: Buffer.from(`${PREFIX}/pods/${name}`),
  value: Buffer.from(value),
  createRevision: 5,
  modRevision: 6,
  version: 2,
  expiresAtMs,
});

async function* pagesOf(...pages: SnapshotEntry[][]): AsyncGenerator<readonly SnapshotEntry[]> {
  for (const page of pages) yield page;
}

async function* interrupted(...pages: SnapshotEntry[][]): AsyncGenerator<readonly SnapshotEntry[]> {
  yield* pagesOf(...pages);
  throw new Error('interrupted');
}

async function contents(kv: KeyValueStore): Promise<Record<string, string>> {
  const { kvs } = await kv.range({ start: '/', end: '0' });
  return Object.fromEntries(kvs.map(({ key, value }) => [key, value.toString()]));
}

describe('filling a store of others', () => {
  it('writes every entry, and leaves no marker', async () => {
    const kv = openMemoryStore({ clock });
    const many = Array.from({ length: 300 }, (_, i) => entry(`p${i}`, `value ${i}`));
    assert.equal(await fillStore({ kv, prefix: PREFIX, nowMs }, pagesOf(many, [entry('q', 'q')])), 301);
    const all = await contents(kv);
    assert.equal(Object.keys(all).length, 301);
    assert.equal(all['/registry/pods/p77'], 'value 77');
  });

  it('keeps what has an end for as long as it has left, and leaves out what is over', async () => {
    const kv = openMemoryStore({ clock });
    const soon = entry('soon', 'a', nowMs() + 5_000);
    const over = entry('over', 'b', nowMs() - 1);
    assert.equal(await fillStore({ kv, prefix: PREFIX, nowMs }, pagesOf([over, soon])), 1);
    assert.deepEqual(await contents(kv), { '/registry/pods/soon': 'a' });
    await clock.move(7_000);
    assert.deepEqual(await contents(kv), {});
  });

  it('is marked as not finished until it is, and then goes on to what the source has now', async () => {
    const kv = openMemoryStore({ clock });
    const first = interrupted([entry('a', '1'), entry('b', '1'), entry('gone', '1')]);
    await assert.rejects(fillStore({ kv, prefix: PREFIX, nowMs }, first), /interrupted/);
    assert.notEqual(await kv.get(markerKey(PREFIX)), undefined);
    assert.equal(await refuseFilled(kv, PREFIX), 'interrupted');
    const again = pagesOf([entry('a', '1'), entry('b', '2')], [entry('c', '1')]);
    assert.equal(await fillStore({ kv, prefix: PREFIX, nowMs }, again), 3);
    assert.deepEqual(await contents(kv), {
      '/registry/pods/a': '1',
      '/registry/pods/b': '2',
      '/registry/pods/c': '1',
    });
  });

  it('refuses a store that has something, and changes nothing', async () => {
    const kv = openMemoryStore({ clock });
    await kv.create('/registry/pods/x', Buffer.from('theirs'));
    const filling = fillStore({ kv, prefix: PREFIX, nowMs }, pagesOf([entry('a', '1')]));
    await assert.rejects(filling, /the target has 1 keys under \/registry\/ already/);
    assert.deepEqual(await contents(kv), { '/registry/pods/x': 'theirs' });
  });
});
