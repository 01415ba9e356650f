import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import { openMemoryStore } from '../kv/memory.js';
import { createResourceStore } from './create-store.js';
import type { Labels } from './label-sets.js';
import type { ListRequest, ManagedResourceStore, StoredObject } from './store.js';
import { PODS } from './testing.js';

const pod = (namespace: string, name: string, labels: Labels): KubeObject =>
  ({ kind: 'Pod', apiVersion: 'v1', metadata: { name, namespace, uid: name, labels }, spec: {} }) as KubeObject;

/** How many objects the predicate evaluated. */
let asked = 0;
const having = (key: string, value: string): Pick<ListRequest, 'predicate' | 'labels'> => ({
  predicate: ({ labels }: StoredObject) => {
    asked++;
    return labels[key] === value;
  },
  labels: (labels) => labels[key] === value,
});

const listed = async (store: ManagedResourceStore, request: Partial<ListRequest>): Promise<string[]> => {
  const whole = { namespace: '', resourceVersion: '', resourceVersionMatch: '', limit: 0, continue: '' } as const;
  asked = 0;
  return (await store.list({ ...whole, ...request })).items.map(({ key }) => key);
};

async function filled(labelsOf: (i: number) => Labels, count: number): Promise<ManagedResourceStore> {
  const store = createResourceStore({ kv: openMemoryStore(), options: PODS });
  await Promise.all(
    Array.from({ length: count }, (_, i) => {
      const [namespace, name] = [i % 2 === 0 ? 'a' : 'b', `p${String(i).padStart(4, '0')}`];
      return store.create(`${namespace}/${name}`, pod(namespace, name, labelsOf(i)));
    }),
  );
  await store.ready();
  return store;
}

test('of objects that share label sets the predicate evaluates only selected ones, in key order', async () => {
  const store = await filled((i) => ({ app: `a${i % 20}` }), 60);
  assert.deepEqual(await listed(store, having('app', 'a3')), ['b/p0003', 'b/p0023', 'b/p0043']);
  assert.equal(asked, 3);
  assert.deepEqual(await listed(store, { ...having('app', 'a3'), namespace: 'b' }), ['b/p0003', 'b/p0023', 'b/p0043']);
  assert.deepEqual(await listed(store, { ...having('app', 'a3'), namespace: 'a' }), []);
  assert.equal(asked, 0);
  assert.deepEqual(await listed(store, { ...having('app', 'a3'), namespace: 'b', name: 'p0023' }), ['b/p0023']);
  assert.deepEqual(await listed(store, { ...having('app', 'a3'), namespace: 'none' }), []);
  store.close();
});

test('what changes its labels, or goes, is found where it is now', async () => {
  const store = await filled((i) => ({ app: `a${i % 20}` }), 60);
  const moved = await store.get('b/p0003', '');
  await store.update('b/p0003', moved?.revision ?? 0, pod('b', 'p0003', { app: 'a4' }));
  assert.deepEqual(await listed(store, having('app', 'a3')), ['b/p0023', 'b/p0043']);
  assert.deepEqual(await listed(store, having('app', 'a4')), ['a/p0004', 'a/p0024', 'a/p0044', 'b/p0003']);
  for (const key of ['b/p0023', 'b/p0043']) await store.delete(key, (await store.get(key, ''))?.revision ?? 0);
  assert.deepEqual(await listed(store, having('app', 'a3')), []);
  await store.create('b/alone', pod('b', 'alone', { app: 'other' }));
  await store.delete('b/alone', (await store.get('b/alone', ''))?.revision ?? 0);
  assert.deepEqual(await listed(store, having('app', 'other')), []);
  store.close();
});

test('a list by labels comes in pages of one state', async () => {
  const store = await filled((i) => ({ app: `a${i % 20}` }), 100);
  const request = {
    ...having('app', 'a4'),
    namespace: '',
    resourceVersion: '',
    resourceVersionMatch: '',
    limit: 3,
  } as const;
  const first = await store.list({ ...request, continue: '' });
  await store.create('a/p0005', pod('a', 'p0005', { app: 'a4' }));
  const second = await store.list({ ...request, continue: first.continue });
  assert.deepEqual(
    [...first.items, ...second.items].map(({ key }) => key),
    [4, 24, 44, 64, 84].map((i) => `a/p00${String(i).padStart(2, '0')}`),
  );
  assert.equal(second.continue, '');
  store.close();
});

test('where most have labels of their own, or most are wanted, all are walked, with the same answer', async () => {
  const own = await filled((i) => ({ app: `a${i % 7}`, own: String(i) }), 3000);
  assert.equal((await listed(own, having('app', 'a3'))).length, 429);
  assert.equal(asked, 3000);
  assert.deepEqual(await listed(own, having('own', '42')), ['a/p0042']);
  own.close();
  const same = await filled(() => ({ app: 'web' }), 5000);
  const all = await listed(same, having('app', 'web'));
  assert.deepEqual([all.length, all[0], all.at(-1)], [5000, 'a/p0000', 'b/p4999']);
  same.close();
});
