import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import { openMemoryStore } from '../kv/memory.js';
import { createResourceStore } from './create-store.js';
import { PODS } from './testing.js';

const pod = (namespace: string, name: string): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace },
});

test('all objects of a namespace are at hand as they are now, once the cache is filled', async () => {
  const store = createResourceStore({ kv: openMemoryStore(), options: PODS });
  const names = (namespace: string): readonly string[] | undefined =>
    store.local?.listCached(namespace)?.map(({ key }) => key);
  assert.equal(names('a'), undefined);
  await store.create('a/1', pod('a', '1'));
  await store.create('b/1', pod('b', '1'));
  await store.ready();
  assert.deepEqual(names('a'), ['a/1']);
  assert.equal(store.local?.listCached('a'), store.local?.listCached('a'));
  const { revision } = await store.create('a/2', pod('a', '2'));
  assert.deepEqual([names('a'), names(''), names('b')], [['a/1', 'a/2'], ['a/1', 'a/2', 'b/1'], ['b/1']]);
  await store.delete('a/2', revision);
  assert.deepEqual(names('a'), ['a/1']);
});
