import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import { openMemoryStore } from '../kv/memory.js';
import { createResourceStore } from './create-store.js';
import type { ListRequest, ManagedResourceStore, ResourceStoreOptions, StoredObject, WatchEvent } from './store.js';
import { PODS } from './testing.js';

let parsed = 0;
const options: ResourceStoreOptions = {
  ...PODS,
  codec: {
    ...PODS.codec,
    decodeJson: (bytes) => {
      parsed++;
      return JSON.parse(bytes.toString()) as KubeObject;
    },
    encodeStorage: () => Buffer.alloc(0),
    decodeStorage: () => ({ metadata: {} }),
  },
  fieldsOf: (object) => ({ 'spec.nodeName': nodeOf(object) }),
  indexedField: 'spec.nodeName',
};

const nodeOf = (object: KubeObject): string => (object as { spec?: { nodeName?: string } }).spec?.nodeName ?? '';

const pod = (namespace: string, name: string, nodeName: string): KubeObject =>
  ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace, uid: name, labels: { app: name } },
    spec: nodeName === '' ? {} : { nodeName },
  }) as KubeObject;

const onNode = (value: string): Pick<ListRequest, 'predicate' | 'fieldValues'> => ({
  predicate: (object: StoredObject) => object.field('spec.nodeName') === value,
  fieldValues: [{ field: 'spec.nodeName', value }],
});

const listed = async (store: ManagedResourceStore, request: Partial<ListRequest>): Promise<string[]> => {
  const whole = { namespace: '', resourceVersion: '', resourceVersionMatch: '', limit: 0, continue: '' } as const;
  return (await store.list({ ...whole, ...request })).items.map(({ key }) => key);
};

async function filled(): Promise<ManagedResourceStore> {
  const kv = openMemoryStore();
  const writer = createResourceStore({ kv, options });
  for (let i = 0; i < 40; i++) {
    const [namespace, name] = [i % 2 === 0 ? 'a' : 'b', `p${String(i).padStart(2, '0')}`];
    await writer.create(`${namespace}/${name}`, pod(namespace, name, i % 10 === 9 ? '' : `n${i % 10}`));
  }
  // Another has to read all of it from the store.
  return createResourceStore({ kv, options });
}

test('objects are selected by the indexed field and by labels without parsing any, in the order of their keys', async () => {
  const store = await filled();
  parsed = 0;
  assert.deepEqual(await listed(store, onNode('n3')), ['b/p03', 'b/p13', 'b/p23', 'b/p33']);
  assert.deepEqual(await listed(store, { ...onNode('n3'), namespace: 'a' }), []);
  assert.deepEqual(await listed(store, onNode('none')), []);
  assert.deepEqual(await listed(store, { predicate: ({ labels }) => labels['app'] === 'p07' }), ['b/p07']);
  assert.equal(parsed, 0);
});

test('a list by the indexed field comes in pages', async () => {
  const store = await filled();
  const request = { ...onNode('n4'), namespace: '', resourceVersion: '', resourceVersionMatch: '', limit: 3 } as const;
  const first = await store.list({ ...request, continue: '' });
  assert.deepEqual(
    first.items.map(({ key }) => key),
    ['a/p04', 'a/p14', 'a/p24'],
  );
  assert.equal(first.remainingItemCount, undefined);
  const second = await store.list({ ...request, continue: first.continue });
  assert.deepEqual(
    second.items.map(({ key }) => key),
    ['a/p34'],
  );
  assert.equal(second.continue, '');
});

test('what changes its value, or goes, is found where it is now', async () => {
  const store = await filled();
  const unplaced = await store.get('b/p09', '');
  await store.update('b/p09', unplaced?.revision ?? 0, pod('b', 'p09', 'n1'));
  assert.deepEqual(await listed(store, onNode('n1')), ['b/p01', 'b/p09', 'b/p11', 'b/p21', 'b/p31']);
  const placed = await store.get('b/p01', '');
  await store.delete('b/p01', placed?.revision ?? 0);
  assert.deepEqual(await listed(store, onNode('n1')), ['b/p09', 'b/p11', 'b/p21', 'b/p31']);
  // More than a quarter of all: walked, not looked up, with the same answer.
  for (let i = 2; i < 20; i++) await store.create(`c/p${i}`, pod('c', `p${i}`, 'n1'));
  assert.equal((await listed(store, onNode('n1'))).length, 22);
});

test('a watch by the indexed field hears of what comes, changes and leaves, and of nothing else', async () => {
  const store = await filled();
  const heard: string[] = [];
  const stop = new AbortController();
  const watch = await store.watch(
    {
      ...onNode('n2'),
      namespace: '',
      resourceVersion: '0',
      resourceVersionMatch: '',
      allowBookmarks: false,
      signal: stop.signal,
    },
    (events: readonly WatchEvent[]) => {
      for (const event of events) if (event.type !== 'BOOKMARK') heard.push(`${event.type} ${event.object.key}`);
      return true;
    },
  );
  assert.deepEqual(heard.splice(0), ['ADDED a/p02', 'ADDED a/p12', 'ADDED a/p22', 'ADDED a/p32']);
  let revision = (await store.create('a/new', pod('a', 'new', ''))).revision;
  for (const node of ['n2', 'n2', 'n3', 'n2']) {
    revision = (await store.update('a/new', revision, pod('a', 'new', node))).revision;
  }
  await store.create('a/other', pod('a', 'other', 'n5'));
  await store.delete('a/new', revision);
  assert.deepEqual(heard, ['ADDED a/new', 'MODIFIED a/new', 'DELETED a/new', 'ADDED a/new', 'DELETED a/new']);
  stop.abort();
  await watch.ended;
});
