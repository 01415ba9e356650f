import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMemoryStore } from '../kv/memory.js';
import { Contents } from './contents.js';
import { createResourceStore } from './create-store.js';
import type { Entry } from './entry.js';
import type { Change } from './history.js';
import { PODS } from './testing.js';

const NAMESPACES = 30;
const NAMES = 100;

test('a name is looked up in each namespace, and no other object is looked at', () => {
  const contents = new Contents(undefined);
  let looked = 0;
  for (let i = 0; i < NAMESPACES * NAMES; i++) {
    const key = `ns-${i % NAMESPACES}/p${Math.floor(i / NAMESPACES)}`;
    const entry = {
      get key() {
        looked++;
        return key;
      },
      labels: {},
      size: 1,
    };
    contents.add(entry as unknown as Entry);
  }
  looked = 0;
  const found = contents.candidates({ prefix: '', nameAnywhere: 'p7' }, {})?.entries ?? [];
  assert.equal(found.length, NAMESPACES);
  // At most the comparisons of sorting the found entries.
  assert.ok(looked < 2 * NAMESPACES * Math.log2(NAMESPACES), `${looked}`);
  const keys = found.map(({ key }) => key);
  assert.deepEqual(keys, keys.toSorted());
  assert.deepEqual(contents.candidates({ prefix: '', nameAnywhere: 'p700' }, {})?.entries, []);
});

test('objects that are read at the start are in order, also with what changes before anybody lists them', () => {
  const entry = (key: string, revision = 1): Entry =>
    ({ key, revision, labels: {}, size: 1, releaseBytes: () => undefined }) as unknown as Entry;
  for (const keys of [
    ['a/a', 'a/b', 'b/a'],
    // In the order of their bytes.
    ['a/\ufffd', 'a/\u{1f600}'],
  ]) {
    const contents = new Contents(undefined);
    for (const key of keys) contents.add(entry(key));
    const changed = entry('a/a1', 2);
    contents.apply({ key: changed.key, entry: changed, previous: undefined, revision: 2 } as Change);
    assert.deepEqual([...contents.state.keys()], [...keys, 'a/a1'].sort());
    contents.add(entry('c/c'));
    assert.deepEqual([...contents.state.keys()], [...keys, 'a/a1', 'c/c'].sort());
    assert.equal(contents.size, keys.length + 2);
  }
});

test('a list of a name in every namespace has those that are there now, page by page', async () => {
  const store = createResourceStore({ kv: openMemoryStore(), options: PODS });
  const pod = (namespace: string, name: string) => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace, uid: name },
  });
  for (const namespace of ['c', 'a', 'b', 'd']) {
    for (const name of ['x', 'y', 'zx']) await store.create(`${namespace}/${name}`, pod(namespace, name));
  }
  const gone = await store.get('c/x', '');
  await store.delete('c/x', gone?.revision ?? 0);
  const named = { namespace: '', name: 'x', resourceVersion: '', resourceVersionMatch: '', limit: 2 } as const;
  const first = await store.list({ ...named, continue: '' });
  const keys = (items: typeof first.items): string[] => items.map(({ key }) => key);
  assert.deepEqual([keys(first.items), first.remainingItemCount], [['a/x', 'b/x'], undefined]);
  const all = await store.list({ ...named, limit: 0, continue: '' });
  assert.deepEqual([keys(all.items), all.continue], [['a/x', 'b/x', 'd/x'], '']);
  store.close();
});
