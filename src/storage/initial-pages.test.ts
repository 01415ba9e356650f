import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openMemoryStore } from '../kv/memory.js';
import { pollUntil } from '../lib/testing/poll-until.js';
import { createResourceStore } from './create-store.js';
import type { StorageMetrics } from './metrics.js';
import { type ManagedResourceStore, StorageError, type WatchEvent, type WatchRequest } from './store.js';
import { STORED_OTHERWISE } from './testing.js';

/** More than two pages. */
const OBJECTS = 1200;
const FORM = { kind: 'storage', mediaType: 'test' } as const;
const FROM_NOTHING: WatchRequest = {
  namespace: '',
  resourceVersion: '',
  resourceVersionMatch: '',
  allowBookmarks: true,
  sendInitialEvents: true,
  signal: new AbortController().signal,
};

/** A store with so many objects, what it counts, and how many it has decoded. */
async function filled(objects = OBJECTS) {
  const kv = openMemoryStore();
  const { codec } = STORED_OTHERWISE;
  const counts = { decoded: 0 };
  const lists: string[] = [];
  const requests: string[] = [];
  const decodeStorage: typeof codec.decodeStorage = (bytes) => (counts.decoded++, codec.decodeStorage(bytes));
  const metrics: StorageMetrics = {
    listed: (...figures) => void lists.push(figures.join(' ')),
    request: (operation) => void requests.push(operation),
  };
  const options = { ...STORED_OTHERWISE, codec: { ...codec, decodeStorage } };
  const store = createResourceStore({ kv, options, cache: false, form: FORM, metrics });
  const writer = createResourceStore({ kv, options: STORED_OTHERWISE, cache: false, form: FORM });
  for (let i = 0; i < objects; i++) await write(writer, i);
  return { kv, store, writer, counts, lists, requests };
}

const keyOf = (i: number): string => `n/${String(i).padStart(5, '0')}`;
const write = (store: ManagedResourceStore, i: number): Promise<unknown> =>
  store.create(keyOf(i), {
    metadata: { name: keyOf(i).slice(2), namespace: 'n', labels: { odd: String(i % 2 === 1) } },
  });

async function open(store: ManagedResourceStore, part: Partial<WatchRequest> = {}) {
  const events: WatchEvent[] = [];
  const { ended } = await store.watch({ ...FROM_NOTHING, ...part }, (some) => {
    events.push(...some);
    return true;
  });
  return { events, ended };
}

const isAtEnd = ({ events }: { readonly events: readonly WatchEvent[] }): boolean =>
  events.some((event) => event.type === 'BOOKMARK');

const textOf = (event: WatchEvent): string =>
  event.type === 'BOOKMARK'
    ? `BOOKMARK ${event.revision}`
    : `${event.type} ${event.object.key} ${event.object.revision}`;

const expected = (from: number, to: number, wanted = (_i: number): boolean => true): string[] =>
  Array.from({ length: to - from }, (_, k) => from + k)
    .filter(wanted)
    .map((i) => `ADDED ${keyOf(i)} ${i + 2}`);

describe('the initial state of watches straight from the store', () => {
  it('is decoded once for six that begin together, and their events are the same', async () => {
    const { store, counts } = await filled();
    const odd: Partial<WatchRequest> = { predicate: ({ labels }) => labels['odd'] === 'true' };
    const watches = await Promise.all([{}, {}, odd, {}, {}, {}].map((part) => open(store, part)));
    await pollUntil(() => watches.every(isAtEnd));
    assert.equal(counts.decoded, OBJECTS);
    const end = `BOOKMARK ${OBJECTS + 1}`;
    for (const [k, { events }] of watches.entries()) {
      const isOdd = (i: number): boolean => k !== 2 || i % 2 === 1;
      assert.deepEqual(events.map(textOf), [...expected(0, OBJECTS, isOdd), end]);
    }
    const states = watches.flatMap(({ events }) => events.slice(0, -1));
    assert.equal(new Set(states).size, OBJECTS);
    store.close();
  });

  it('waits for a slow reader a page at a time, of the revision it began at, and holds up nobody else', async () => {
    const { store, writer, counts } = await filled();
    let resume = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (resume = resolve));
    const slow = await open(store, { drained: () => waiting });
    await pollUntil(() => slow.events.length > 0);
    const first = slow.events.length;
    assert.ok(counts.decoded < OBJECTS);
    const fast = await open(store);
    await pollUntil(() => isAtEnd(fast));
    assert.equal(slow.events.length, first);
    await write(writer, OBJECTS);
    await store.delete(keyOf(OBJECTS - 1), OBJECTS + 1);
    resume();
    await pollUntil(() => slow.events.length === OBJECTS + 3 && fast.events.length === OBJECTS + 3);
    const all = [
      ...expected(0, OBJECTS),
      `BOOKMARK ${OBJECTS + 1}`,
      ...expected(OBJECTS, OBJECTS + 1),
      `DELETED ${keyOf(OBJECTS - 1)} ${OBJECTS + 3}`,
    ];
    assert.deepEqual(slow.events.map(textOf), all);
    assert.deepEqual(fast.events.map(textOf), all);
    store.close();
  });

  it('begins where the store is when the watch comes, not where another began', async () => {
    const { store, writer } = await filled();
    const early = await open(store);
    await write(writer, OBJECTS);
    const late = await open(store);
    await pollUntil(() => isAtEnd(late) && early.events.length === OBJECTS + 2);
    assert.deepEqual(late.events.map(textOf), [...expected(0, OBJECTS + 1), `BOOKMARK ${OBJECTS + 2}`]);
    assert.equal(new Set(early.events.map(textOf)).size, OBJECTS + 2);
    store.close();
  });

  it('ends with what a continued list answers when its revision is compacted before all is read', async () => {
    const { kv, store, writer } = await filled();
    let resume = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (resume = resolve));
    const slow = await open(store, { drained: () => waiting });
    await pollUntil(() => slow.events.length > 0);
    await write(writer, OBJECTS);
    await kv.compact(OBJECTS + 2);
    resume();
    const error = await slow.ended;
    assert.ok(error instanceof StorageError && error.code === 'expired-continue');
    store.close();
  });

  it('ends where an object cannot be read, as later in the watch', async () => {
    const { kv, store } = await filled(3);
    await kv.update(`${STORED_OTHERWISE.prefix}${keyOf(1)}`, 3, Buffer.from('k8s\0no object'));
    const { ended } = await open(store);
    assert.equal((await ended)?.code, 'corrupt');
    store.close();
  });

  it('is no list to the metrics, but for the question where the store is', async () => {
    const { store, lists, requests } = await filled(3);
    const legacy = { sendInitialEvents: undefined, allowBookmarks: false };
    for (const part of [{}, { namespace: 'n', name: keyOf(1).slice(2) }]) {
      const watch = await open(store, part);
      await pollUntil(() => isAtEnd(watch));
    }
    const old = await open(store, { ...legacy, resourceVersion: '0' } as Partial<WatchRequest>);
    await pollUntil(() => old.events.length === 3);
    assert.deepEqual([lists.splice(0), requests.splice(0)], [[], ['list', 'get', 'list']]);
    await open(store, { sendInitialEvents: false });
    const newer = await open(store, { resourceVersion: '2' });
    await pollUntil(() => isAtEnd(newer));
    assert.deepEqual(
      [lists, requests],
      [
        ['0 0 0', '0 0 0'],
        ['get', 'get', 'list'],
      ],
    );
    store.close();
  });
});
