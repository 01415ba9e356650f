import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openMemoryStore } from '../kv/memory.js';
import type { KvEvent } from '../kv/kv.js';
import { pollUntil } from '../lib/testing/poll-until.js';
import { createResourceStore } from './create-store.js';
import { Change } from './history.js';
import { SharedChanges } from './shared-changes.js';
import type { WatchEvent } from './store.js';
import { STORED_OTHERWISE } from './testing.js';

const ALL = { namespace: '', name: '', resourceVersion: '1', resourceVersionMatch: '', allowBookmarks: false } as const;

it('watches straight from the store decode a change once, and share its event', async () => {
  let decoded = 0;
  const { codec } = STORED_OTHERWISE;
  const counting = { ...codec, decodeStorage: (bytes: Buffer) => (decoded++, codec.decodeStorage(bytes)) };
  const kv = openMemoryStore();
  const setup = { kv, cache: false, form: { kind: 'storage', mediaType: 'test' } } as const;
  const ours = createResourceStore({ ...setup, options: { ...STORED_OTHERWISE, codec: counting } });
  const theirs = createResourceStore({ ...setup, options: STORED_OTHERWISE });
  const heard: WatchEvent[][] = [[], [], []];
  for (const events of heard) {
    await ours.watch({ ...ALL, signal: new AbortController().signal }, (some) => {
      events.push(...some);
      return true;
    });
  }
  await theirs.create('n/a', { metadata: { name: 'a', namespace: 'n' } });
  await pollUntil(() => heard.every((events) => events.length === 1));
  assert.equal(decoded, 1);
  assert.equal(new Set(heard.flat()).size, 1);
  ours.close();
});

const eventOf = (revision: number, bytes: number): KvEvent => ({
  type: 'put',
  key: '/a',
  revision,
  value: Buffer.alloc(bytes),
  createRevision: 1,
  previous: undefined,
});

function counted(outcome: () => unknown = () => undefined) {
  let made = 0;
  const changes = new SharedChanges(async ({ key, revision }) => {
    made++;
    const error = outcome();
    if (error !== undefined) throw error;
    return new Change({ key, revision, entry: undefined, previous: undefined, atMs: 0 });
  });
  return { changes, made: () => made };
}

it('older changes are dropped beyond a megabyte', async () => {
  const { changes, made } = counted();
  for (const revision of [1, 2, 3, 2, 3]) await changes.get(eventOf(revision, 400_000));
  assert.equal(made(), 3);
  await changes.get(eventOf(1, 400_000));
  assert.equal(made(), 4);
});

it('a change larger than all that is kept is shared until the next', async () => {
  const { changes, made } = counted();
  for (const revision of [1, 1, 2, 1]) await changes.get(eventOf(revision, 2_000_000));
  assert.equal(made(), 3);
});

it('a change that could not be read is read again for the next watch', async () => {
  let error: unknown = new Error('no key');
  const { changes, made } = counted(() => error);
  await assert.rejects(async () => changes.get(eventOf(1, 10)), { message: 'no key' });
  error = undefined;
  await changes.get(eventOf(1, 10));
  assert.equal(made(), 2);
});
