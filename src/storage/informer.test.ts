import { logTo } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import { openMemoryStore } from '../kv/memory.js';
import { createResourceStore } from './create-store.js';
import { startInformer } from './informer.js';
import { type ResourceStore, StorageError, type StoredObject, type WatchEvent } from './store.js';
import { PODS } from './testing.js';

const stored = (key: string, revision: number): StoredObject => ({
  key,
  revision,
  json: Buffer.alloc(0),
  size: 0,
  object: () => ({ metadata: { name: key } }),
  labels: {},
  field: () => '',
});

/** A store whose watches the test feeds and ends. */
class FedStore {
  watches = 0;
  receive: (events: readonly WatchEvent[]) => boolean = () => false;
  end: (error?: StorageError) => void = () => undefined;
  private begun = (): void => undefined;

  readonly store = {
    watch: async (_request: unknown, receive: (events: readonly WatchEvent[]) => boolean) => {
      this.watches++;
      this.receive = receive;
      const ended = new Promise<StorageError | undefined>((resolve) => (this.end = resolve));
      this.begun();
      return { ended };
    },
  } as unknown as ResourceStore;

  nextWatch(): Promise<void> {
    return new Promise((resolve) => (this.begun = resolve));
  }

  feed(...events: WatchEvent[]): void {
    assert.equal(this.receive(events), true);
  }
}

test('after a broken watch reports only changes and deletions since', { timeout: 10_000 }, async () => {
  const fed = new FedStore();
  const reported: string[] = [];
  const stop = new AbortController();
  const first = fed.nextWatch();
  const informer = startInformer({
    store: fed.store,
    signal: stop.signal,
    log: logTo((message) => reported.push(message)),
    onUpsert: ({ key, revision }, before) =>
      reported.push(`put ${key}@${revision} was ${before?.revision ?? 'absent'}`),
    onDelete: ({ key }) => reported.push(`gone ${key}`),
  });
  await first;
  const added = (key: string, revision: number): WatchEvent => ({ type: 'ADDED', object: stored(key, revision) });
  const complete: WatchEvent = { type: 'BOOKMARK', revision: 9, initialEventsEnd: true };
  fed.feed(added('same', 1), added('changed', 2), added('gone', 3), complete);
  await informer.synced;
  fed.feed({ type: 'MODIFIED', object: stored('changed', 4) });

  const second = fed.nextWatch();
  fed.end(new StorageError('too-old', 'too old'));
  await second;
  fed.feed(added('same', 1), added('changed', 5));
  assert.ok(informer.objects.has('gone'), 'nothing is missing before everything there was delivered');
  fed.feed(complete, { type: 'DELETED', object: stored('same', 6) });
  assert.deepEqual(reported, [
    'put same@1 was absent',
    'put changed@2 was absent',
    'put gone@3 was absent',
    'put changed@4 was 2',
    'watch ended: too old',
    'put changed@5 was 4',
    'gone gone',
    'gone same',
  ]);
  stop.abort();
  fed.end();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(fed.watches, 2);
});

test('a receiver that fails on one object gets the next', async () => {
  const fed = new FedStore();
  const reported: string[] = [];
  const stop = new AbortController();
  const begun = fed.nextWatch();
  startInformer({
    store: fed.store,
    signal: stop.signal,
    log: logTo((message) => reported.push(message)),
    onUpsert: ({ key }) => {
      if (key === 'bad') throw new Error('unreadable');
      reported.push(key);
    },
    onDelete: () => undefined,
  });
  await begun;
  fed.feed({ type: 'ADDED', object: stored('bad', 1) }, { type: 'ADDED', object: stored('good', 2) });
  assert.deepEqual(reported, ['watch event failed: unreadable', 'good']);
  stop.abort();
  fed.end();
});

test('an informer of one name hears of no other', async () => {
  const store = createResourceStore({ kv: openMemoryStore(), options: PODS });
  const pod = (namespace: string, name: string): KubeObject => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace },
  });
  for (const [namespace, name] of [
    ['a', 'x'],
    ['a', 'y'],
    ['b', 'x'],
  ] as const) {
    await store.create(`${namespace}/${name}`, pod(namespace, name));
  }
  const stop = new AbortController();
  const seen: string[] = [];
  const { synced } = startInformer({
    store,
    name: 'x',
    signal: stop.signal,
    log: logTo(assert.fail),
    onUpsert: ({ key }) => seen.push(key),
    onDelete: ({ key }) => seen.push(`gone ${key}`),
  });
  await synced;
  const { revision } = await store.create('c/x', pod('c', 'x'));
  await store.create('c/y', pod('c', 'y'));
  await store.delete('c/x', revision);
  stop.abort();
  assert.deepEqual(seen, ['a/x', 'b/x', 'c/x', 'gone c/x']);
});
