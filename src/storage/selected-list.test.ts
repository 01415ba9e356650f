// Lists of many objects whose predicate is evaluated one by one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import { openMemoryStore } from '../kv/memory.js';
import { createResourceStore } from './create-store.js';
import type { ListRequest, ManagedResourceStore, ResourceStoreOptions } from './store.js';
import { PODS } from './testing.js';

const COUNT = 3_000;

const options: ResourceStoreOptions = {
  ...PODS,
  fieldsOf: (object) => ({
    'spec.nodeName': String((object as { spec?: { nodeName?: string } }).spec?.nodeName ?? ''),
  }),
  indexedField: 'spec.nodeName',
};

const name = (i: number): string => `p${String(i).padStart(5, '0')}`;
const pod = (i: number): KubeObject =>
  ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: name(i), namespace: 'a' },
    spec: { nodeName: `n${i % 5}` },
  }) as never;

async function filled(): Promise<ManagedResourceStore> {
  const store = createResourceStore({ kv: openMemoryStore(), options });
  await Promise.all(Array.from({ length: COUNT }, (_, i) => store.create(`a/${name(i)}`, pod(i))));
  await store.ready();
  return store;
}

const all: ListRequest = { namespace: '', resourceVersion: '', resourceVersionMatch: '', limit: 0, continue: '' };

/** Busy for a while with each object, as a predicate that scans the JSON of large objects is. */
const odd: ListRequest['predicate'] = ({ key }) => {
  for (const end = performance.now() + 0.05; performance.now() < end;);
  return Number(key.slice(3)) % 2 === 1;
};

async function countingTurns<T>(work: Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0;
  let next = setImmediate(function turn() {
    turns++;
    next = setImmediate(turn);
  });
  const result = await work;
  clearImmediate(next);
  return { result, turns };
}

test('a list of many objects yields to the event loop, and excludes what is written meanwhile', async () => {
  const store = await filled();
  const last = `a/${name(COUNT - 1)}`;
  const { items } = await store.list(all);
  const listing = countingTurns(store.list({ ...all, predicate: odd }));
  setImmediate(() => void store.delete(last, items.at(-1)?.revision ?? 0));
  const { result, turns } = await listing;
  assert.ok(turns > 5, `${turns}`);
  assert.equal(result.items.length, COUNT / 2);
  assert.equal(result.items.at(-1)?.key, last);
  assert.equal((await store.list(all)).items.length, COUNT - 1);
  store.close();
});

test('pages of such a list are pages of one state', async () => {
  const store = await filled();
  const keys: string[] = [];
  let token = '';
  do {
    const page = await store.list({ ...all, predicate: odd, limit: 600, continue: token });
    if (token === '') await store.create(`a/${name(COUNT + 1)}`, pod(COUNT + 1));
    keys.push(...page.items.map(({ key }) => key));
    token = page.continue;
  } while (token !== '');
  assert.deepEqual(
    keys,
    Array.from({ length: COUNT / 2 }, (_, i) => `a/${name(2 * i + 1)}`),
  );
  store.close();
});

test('a list that an index narrows yields to the event loop, too', async () => {
  const few = createResourceStore({ kv: openMemoryStore(), options });
  await Promise.all(Array.from({ length: 6_000 }, (_, i) => few.create(`a/${name(i)}`, pod(i))));
  await few.ready();
  const request = { ...all, predicate: odd, fieldValues: [{ field: 'spec.nodeName', value: 'n1' }] };
  const { result, turns } = await countingTurns(few.list(request));
  assert.ok(turns > 2, `${turns}`);
  assert.deepEqual([result.items.length, result.items[1]?.key], [600, `a/${name(11)}`]);
  few.close();
});

test('while nothing changes, lists by the same selector evaluate no object again', async () => {
  const store = await filled();
  let asked = 0;
  const counted = (selector: string, remainder: number, limit = 0): ListRequest => ({
    ...all,
    limit,
    selector,
    predicate: ({ key }) => {
      asked++;
      return Number(key.slice(3)) % 2 === remainder;
    },
  });
  const first = await store.list(counted('odd', 1));
  const page = await store.list(counted('odd', 1, 10));
  const even = await store.list(counted('even', 0));
  asked = 0;
  assert.equal((await store.list(counted('odd', 1))).items, first.items);
  assert.deepEqual(await store.list(counted('odd', 1, 10)), page);
  assert.deepEqual([page.items.length, page.continue === ''], [10, false]);
  assert.equal((await store.list(counted('even', 0))).items, even.items);
  assert.equal(asked, 0);
  // A request without its selector's text shares nothing.
  const { selector: _unsaid, ...unsaid } = counted('', 1);
  assert.deepEqual((await store.list(unsaid)).items, first.items);
  assert.equal(asked, COUNT);
  await store.create(`a/${name(COUNT + 1)}`, pod(COUNT + 1));
  assert.equal((await store.list(counted('odd', 1))).items.length, COUNT / 2 + 1);
  store.close();
});
