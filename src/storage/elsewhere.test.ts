// A store that others write to as well: its revision must be requested, and events arrive after answers.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { OwnWrites } from '../kv/etcd/own-writes.js';
import type { KeyValueStore, KvEvent, KvWatchReceiver, WriteResult } from '../kv/kv.js';
import { openMemoryStore } from '../kv/memory.js';
import { ManualClock } from '../lib/testing/manual-clock.js';
import type { KubeObject } from '../machinery/object.js';
import { createResourceStore } from './create-store.js';
import type { ListRequest, ManagedResourceStore, ResourceStoreOptions } from './store.js';
import { STORED_OTHERWISE } from './testing.js';

const NEWEST: ListRequest = { namespace: '', resourceVersion: '', resourceVersionMatch: '', limit: 0, continue: '' };
const pod = (name: string, text = ''): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'n', annotations: { text } },
});
const textOf = (stored: { object(): KubeObject } | undefined): string | undefined =>
  stored?.object().metadata.annotations?.['text'];

/** Counts calls of a store, and can hold back the events and progress of its watches. */
function elsewhere(store: KeyValueStore) {
  const asked = { gets: 0, revisions: 0 };
  const held: (() => void)[] = [];
  const state = { holding: false, supportsProgress: true };
  const later = (report: () => void): void => void (state.holding ? held.push(report) : report());
  const written = new OwnWrites();
  const kv = new Proxy(store, {
    get(target, member) {
      if (member === 'local') return false;
      if (member === 'supportsProgressRequests') return () => state.supportsProgress;
      if (member === 'isUnchanged') return written.areElsewhere.bind(written);
      const own: unknown = Reflect.get(target, member, target);
      if (typeof own !== 'function') return own;
      if (member === 'get') asked.gets++;
      if (member === 'revision') asked.revisions++;
      if (member === 'create' || member === 'update' || member === 'delete') {
        return async (key: string, ...rest: readonly unknown[]) => {
          const result = (await Reflect.apply(own, target, [key, ...rest])) as WriteResult;
          if (result.done) written.add(result.revision, key);
          return result;
        };
      }
      if (member !== 'watch') return own.bind(target) as unknown;
      return (request: Parameters<KeyValueStore['watch']>[0], receiver: KvWatchReceiver) =>
        target.watch(request, {
          progress: (revision) => later(() => receiver.progress(revision)),
          failed: (error) => receiver.failed(error),
          events: (batch: readonly KvEvent[]) => later(() => void receiver.events(batch)),
        });
    },
  });
  const release = (): void => {
    state.holding = false;
    for (const report of held.splice(0)) report();
  };
  return { kv, asked, state, release };
}

describe('a store elsewhere', () => {
  const clock = new ManualClock();
  let decoded: number;
  let far: ReturnType<typeof elsewhere>;
  let ours: ManagedResourceStore;
  let theirs: ManagedResourceStore;

  beforeEach(async () => {
    decoded = 0;
    const options: ResourceStoreOptions = {
      ...STORED_OTHERWISE,
      codec: {
        ...STORED_OTHERWISE.codec,
        decodeStorage: (bytes) => {
          decoded++;
          return STORED_OTHERWISE.codec.decodeStorage(bytes);
        },
      },
    };
    const store = openMemoryStore();
    far = elsewhere(store);
    ours = createResourceStore({ kv: far.kv, options, clock });
    theirs = createResourceStore({ kv: elsewhere(store).kv, options: STORED_OTHERWISE, clock });
    await ours.create('n/a', pod('a', 'first'));
    await ours.ready();
    await theirs.ready();
    decoded = 0;
    far.asked.gets = 0;
    far.asked.revisions = 0;
  });

  it('answers its revision, not the object, to a read when the cache is up to date', async () => {
    assert.equal(textOf(await ours.get('n/a', '')), 'first');
    assert.equal(await ours.get('n/none', ''), undefined);
    assert.deepEqual(far.asked, { gets: 0, revisions: 2 });
  });

  it('is waited for when others have written what the cache has not seen', async () => {
    far.state.holding = true;
    const a = await theirs.get('n/a', '');
    await theirs.update('n/a', a?.revision ?? 0, pod('a', 'second'));
    const reading = ours.get('n/a', '');
    await clock.move(50);
    far.release();
    assert.equal(textOf(await reading), 'second');
    assert.equal(far.asked.gets, 0);
  });

  it('is not waited for when all that was written since is ours, and of other keys', async () => {
    far.state.holding = true;
    await far.kv.create('/registry/leases/x', Buffer.from('lease'));
    const made = await ours.create('n/b', pod('b', 'new'));
    assert.equal(textOf(await ours.get('n/a', '')), 'first');
    assert.equal(await ours.get('n/b', ''), made, 'as it was written, before its event has come');
    assert.equal(far.asked.gets, 0);
  });

  it('is not waited for by a list when all that was written since is ours, and of other resources', async () => {
    far.state.holding = true;
    const { revision } = await far.kv.create('/registry/leases/x', Buffer.from('lease'));
    const list = await ours.list(NEWEST);
    assert.deepEqual([list.items.length, list.revision], [1, revision]);
  });

  it('is waited for by a list of what we wrote ourselves', async () => {
    far.state.holding = true;
    await ours.create('n/b', pod('b'));
    const listing = ours.list(NEWEST);
    await clock.move(50);
    far.release();
    assert.equal((await listing).items.length, 2);
  });

  it('is waited for when we deleted what is read', async () => {
    far.state.holding = true;
    await ours.delete('n/a', (await ours.getForUpdate('n/a'))?.revision ?? 0);
    const reading = ours.get('n/a', '');
    await clock.move(50);
    far.release();
    assert.equal(await reading, undefined);
  });

  it('is waited for when others wrote between our own writes', async () => {
    far.state.holding = true;
    await ours.create('n/b', pod('b'));
    const a = await theirs.get('n/a', '');
    await theirs.update('n/a', a?.revision ?? 0, pod('a', 'second'));
    await ours.create('n/c', pod('c'));
    const reading = ours.get('n/a', '');
    await clock.move(50);
    far.release();
    assert.equal(textOf(await reading), 'second');
    assert.equal(far.asked.gets, 0);
  });

  it('answers the object itself when its progress is late', async () => {
    far.state.holding = true;
    const a = await theirs.get('n/a', '');
    await theirs.update('n/a', a?.revision ?? 0, pod('a', 'second'));
    const reading = ours.get('n/a', '');
    await clock.move(0);
    await clock.move(100);
    assert.equal(textOf(await reading), 'second');
    assert.equal(far.asked.gets, 1);
  });

  it('answers the object itself when it does not send progress reliably', async () => {
    far.state.supportsProgress = false;
    assert.equal(textOf(await ours.get('n/a', '')), 'first');
    assert.deepEqual(far.asked, { gets: 1, revisions: 0 });
  });

  it('sends own writes back after its answers, and nothing of them is read again', async () => {
    far.state.holding = true;
    const second = await ours.update('n/a', (await ours.getForUpdate('n/a'))?.revision ?? 0, pod('a', 'second'));
    const third = await ours.update('n/a', second.revision, pod('a', 'third'));
    const made = await ours.create('n/b', pod('b', 'new'));
    decoded = 0;
    far.release();
    assert.equal(await ours.get('n/a', '0'), third);
    assert.equal(await ours.get('n/b', '0'), made);
    assert.equal(decoded, 0);
  });

  it('sends what others wrote, which is read once', async () => {
    const a = await theirs.get('n/a', '');
    await theirs.update('n/a', a?.revision ?? 0, pod('a', 'theirs'));
    assert.equal(textOf(await ours.get('n/a', '')), 'theirs');
    assert.equal(textOf(await ours.get('n/a', '')), 'theirs');
    assert.equal(decoded, 1);
  });

  it('has its last written version in the cache before the event arrives', async () => {
    far.state.holding = true;
    const [second] = [await ours.update('n/a', (await ours.getForUpdate('n/a'))?.revision ?? 0, pod('a', 'second'))];
    assert.equal(ours.local?.getMaybeStale('n/a'), second);
    far.release();
    assert.equal(ours.local?.getMaybeStale('n/a'), second);
    await theirs.update('n/a', second.revision, pod('a', 'third'));
    assert.equal(textOf(ours.local?.getMaybeStale('n/a') as { object(): KubeObject }), 'third');
  });

  it('has a cached list that is never behind what this process wrote', async () => {
    assert.equal(ours.local?.listMaybeStale('n')?.length, 1);
    far.state.holding = true;
    await ours.create('n/b', pod('b'));
    assert.equal(ours.local?.listMaybeStale('n'), undefined);
    far.release();
    assert.equal(ours.local?.listMaybeStale('n')?.length, 2);
    assert.deepEqual(far.asked, { gets: 0, revisions: 0 });
  });

  it('gets no request for the form of what this server wrote', async () => {
    const { revision } = (await ours.get('n/a', '')) ?? { revision: 0 };
    assert.equal(await ours.isStale('n/a', revision, false), false);
    assert.equal(await ours.isStale('n/a', revision, true), false);
    assert.equal(far.asked.gets, 0);
  });

  it('gets one request for the form of what others wrote', async () => {
    await theirs.create('n/c', pod('c'));
    const { revision } = (await ours.get('n/c', '')) ?? { revision: 0 };
    assert.equal(await ours.isStale('n/c', revision, false), false);
    assert.equal(await ours.isStale('n/c', revision, false), false);
    assert.equal(far.asked.gets, 1);
  });

  it('reports a conflict when another server wrote before the form is checked', async () => {
    const { revision } = (await ours.get('n/a', '')) ?? { revision: 0 };
    await theirs.update('n/a', revision, pod('a', 'theirs'));
    await assert.rejects(async () => ours.isStale('n/a', revision, false), { code: 'conflict' });
  });
});
