// Updates on a remote store, which begin with the cached object: it may be stale.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { configMaps } from '../apis/core/configmap/definition.js';
import { type KeyValueStore, KvError, type KvEvent, type KvWatchReceiver } from '../kv/kv.js';
import { openMemoryStore } from '../kv/memory.js';
import { pollUntil } from '../lib/testing/poll-until.js';
import { TestApi } from '../server/testing/test-api.js';
import type { KindDefinition } from './kind.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const MERGE = 'application/merge-patch+json';
const kinds = [configMaps as unknown as KindDefinition];

interface FarState {
  gets: number;
  /** Watches receive nothing for now. */
  holding: boolean;
  /** Updates are made and their answers lost. */
  losesAnswers: boolean;
  /** Where set, who asks how far the store is waits here. */
  questions: (() => void)[] | undefined;
}

/** A store that others write to as well, whose events can be held back. */
function elsewhere(store: KeyValueStore) {
  const held: { receiver: KvWatchReceiver; batch: readonly KvEvent[] }[] = [];
  const state: FarState = { gets: 0, holding: false, losesAnswers: false, questions: undefined };
  const kv = new Proxy(store, {
    get(target, member) {
      if (member === 'local') return false;
      if (member === 'supportsProgressRequests') return () => !state.holding;
      const own: unknown = Reflect.get(target, member, target);
      if (typeof own !== 'function') return own;
      if (member === 'get') state.gets++;
      const { questions } = state;
      if (member === 'revision' && questions !== undefined) {
        return () => new Promise((resolve) => questions.push(() => resolve(target.revision())));
      }
      if (member === 'update' && state.losesAnswers) {
        return async (...given: Parameters<KeyValueStore['update']>): Promise<never> => {
          await target.update(...given);
          throw new KvError('unavailable', 'etcd is unavailable: the connection was lost');
        };
      }
      if (member !== 'watch') return own.bind(target) as unknown;
      return (request: Parameters<KeyValueStore['watch']>[0], receiver: KvWatchReceiver) =>
        target.watch(request, {
          progress: (revision) => (state.holding ? undefined : receiver.progress(revision)),
          failed: (error) => receiver.failed(error),
          events: (batch) => (state.holding ? void held.push({ receiver, batch }) : receiver.events(batch)),
        });
    },
  });
  return { kv, state };
}

describe('an update that begins with the cached object', () => {
  let api: TestApi;
  let other: TestApi;
  let state: FarState;

  beforeEach(async () => {
    const store = openMemoryStore();
    const far = elsewhere(store);
    state = far.state;
    api = new TestApi({ kinds, kv: far.kv });
    other = new TestApi({ kinds, kv: elsewhere(store).kv });
    await api.post(MAPS, { metadata: { name: 'a' }, data: { k: '1' } });
    await api.get(`${MAPS}?resourceVersion=0`);
    state.gets = 0;
  });

  it('does not read the store', async () => {
    assert.equal((await api.patch(`${MAPS}/a`, MERGE, { data: { k: '2' } })).status, 200);
    assert.equal((await api.put(`${MAPS}/a`, { metadata: { name: 'a' }, data: { k: '3' } })).status, 200);
    assert.equal(state.gets, 0);
  });

  it('is made on what others have written meanwhile', async () => {
    state.holding = true;
    await other.patch(`${MAPS}/a`, MERGE, { data: { theirs: 'x' } });
    const { status, body } = await api.patch(`${MAPS}/a`, MERGE, { data: { ours: 'y' } });
    assert.equal(status, 200);
    assert.deepEqual(body.data, { k: '1', theirs: 'x', ours: 'y' });
  });

  it('assumes the newest version, and refuses the cached one', async () => {
    const old = (await api.get(`${MAPS}/a`)).body;
    state.holding = true;
    const theirs = (await other.patch(`${MAPS}/a`, MERGE, { data: { k: '2' } })).body;
    const stale = await api.put(`${MAPS}/a`, { ...old, data: { k: '3' } });
    assert.deepEqual([stale.status, stale.body.reason], [409, 'Conflict']);
    const newest = await api.put(`${MAPS}/a`, { ...theirs, data: { k: '4' } });
    assert.deepEqual([newest.status, newest.body.data], [200, { k: '4' }]);
  });

  it('that changes nothing of the cached object is written when something else is stored', async () => {
    state.holding = true;
    await other.patch(`${MAPS}/a`, MERGE, { data: { k: '2' } });
    const { status, body } = await api.put(`${MAPS}/a`, { metadata: { name: 'a' }, data: { k: '1' } });
    assert.deepEqual([status, body.data], [200, { k: '1' }]);
    assert.deepEqual((await other.get(`${MAPS}/a`)).body.data, { k: '1' });
  });

  it('that changes nothing writes nothing', async () => {
    const before = (await api.get(`${MAPS}/a`)).body;
    const after = (await api.patch(`${MAPS}/a`, MERGE, {})).body;
    assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion);
  });

  it('that changes nothing lets others go on while the store confirms it', async () => {
    await api.patch(`${MAPS}/a`, MERGE, { data: { k: '2' } });
    const questions: (() => void)[] = [];
    state.questions = questions;
    const patches = [1, 2, 3].map(() => api.patch(`${MAPS}/a`, MERGE, { data: { k: '2' } }));
    await pollUntil(() => questions.length === 3);
    for (const answer of questions) answer();
    assert.deepEqual(
      (await Promise.all(patches)).map(({ status }) => status),
      [200, 200, 200],
    );
    assert.equal(state.gets, 0);
  });

  it('of what was deleted meanwhile finds nothing', async () => {
    state.holding = true;
    await other.delete(`${MAPS}/a`);
    assert.equal((await api.patch(`${MAPS}/a`, MERGE, { data: { k: '2' } })).status, 404);
    assert.equal((await api.put(`${MAPS}/a`, { metadata: { name: 'a' }, data: { k: '2' } })).status, 404);
  });

  it('is refused by what is stored, not by the cached object', async () => {
    await api.patch(`${MAPS}/a`, MERGE, { immutable: true });
    await api.get(`${MAPS}?resourceVersion=0`);
    state.holding = true;
    await other.delete(`${MAPS}/a`);
    await other.post(MAPS, { metadata: { name: 'a' }, data: { k: 'new' } });
    const { status, body } = await api.patch(`${MAPS}/a`, MERGE, { data: { k: '5' } });
    assert.deepEqual([status, body.data], [200, { k: '5' }]);
  });

  for (const resourceVersion of ['stated', 'not stated']) {
    it(`whose answer was lost is not made again, its version ${resourceVersion}`, async () => {
      const { metadata } = (await api.get(`${MAPS}/a`)).body;
      const stated = resourceVersion === 'stated' ? { resourceVersion: metadata.resourceVersion } : {};
      state.holding = true;
      state.losesAnswers = true;
      const { status } = await api.put(`${MAPS}/a`, { metadata: { name: 'a', ...stated }, data: { k: '2' } });
      assert.equal(status, 503);
      const written = (await other.get(`${MAPS}/a`)).body;
      assert.deepEqual(written.data, { k: '2' });
      assert.equal(Number(written.metadata.resourceVersion), Number(metadata.resourceVersion) + 1);
    });
  }
});
