import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { ManualClock } from '../lib/testing/manual-clock.js';
import { pollUntil } from '../lib/testing/poll-until.js';
import { openEmbeddedStore } from '../kv/embedded/embedded.js';
import type { ChangesPage, ChangesRequest, KeyValueStore } from '../kv/kv.js';
import { openMemoryStore } from '../kv/memory.js';
import { createResourceStore } from './create-store.js';
import { HistoryBudget } from './history-budget.js';
import type { ManagedResourceStore, WatchRequest } from './store.js';
import { PODS as options } from './testing.js';

const CHANGES = 3_000;
const WATCHES = 60;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-load-history-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Pods that were changed again and again before the server started; the changes have the revisions 2 to CHANGES + 1. */
async function withHistory(kv: KeyValueStore, changes = CHANGES, padding = ''): Promise<KeyValueStore> {
  for (let round = 0; round < changes; round += 100) {
    const keys = Array.from({ length: 100 }, (_, i) => `a/${i}`);
    await Promise.all(keys.map((key) => write(kv, key, `${round}${padding}`)));
  }
  return kv;
}

async function write(kv: KeyValueStore, key: string, text: string): Promise<number> {
  const full = options.prefix + key;
  const value = Buffer.from(JSON.stringify({ metadata: { name: key.slice(2), namespace: 'a', labels: { text } } }));
  const current = await kv.get(full);
  const written = current === undefined ? kv.create(full, value) : kv.update(full, current.modRevision, value);
  return (await written).revision;
}

interface Resumed {
  readonly from: number;
  /** The revisions of its events. */
  readonly revisions: number[];
  readonly ended: Promise<unknown>;
  readonly leave: () => void;
}

async function resume(
  store: ManagedResourceStore,
  from: number,
  given: Partial<Pick<WatchRequest, 'drained' | 'namespace' | 'name'>> = {},
): Promise<Resumed> {
  const leave = new AbortController();
  const revisions: number[] = [];
  const request: WatchRequest = {
    namespace: '',
    resourceVersion: String(from),
    resourceVersionMatch: '',
    allowBookmarks: false,
    signal: leave.signal,
    ...given,
  };
  const { ended } = await store.watch(request, (events) => {
    for (const event of events) if (event.type !== 'BOOKMARK') revisions.push(event.object.revision);
    return true;
  });
  return { from, revisions, ended, leave: () => leave.abort() };
}

const starts = Array.from({ length: WATCHES }, (_, i) => 1 + Math.floor((i * CHANGES) / WATCHES));
const between = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + 1 + i);
const never = (): Promise<void> => new Promise(() => undefined);

/** A store whose pages are counted, and can be held up. */
function watched(kv: KeyValueStore): {
  kv: KeyValueStore;
  requests: ChangesRequest[];
  holdUp: () => () => void;
  loading: () => number;
  most: () => number;
} {
  const requests: ChangesRequest[] = [];
  let gate = Promise.resolve();
  let loading = 0;
  let most = 0;
  const changes = async (request: ChangesRequest): Promise<ChangesPage> => {
    requests.push(request);
    most = Math.max(most, ++loading);
    await gate;
    loading--;
    return kv.changes?.(request) ?? assert.fail();
  };
  const counting = new Proxy(kv, {
    get(target, name) {
      const member: unknown = name === 'changes' ? changes : Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const holdUp = (): (() => void) => {
    let open = (): void => undefined;
    gate = new Promise((resolve) => (open = resolve));
    return open;
  };
  return { kv: counting, requests, holdUp, loading: () => loading, most: () => most };
}

for (const [name, open] of [
  ['memory', () => Promise.resolve(openMemoryStore())],
  ['embedded', () => openEmbeddedStore({ folder: path.join(folder, String(Math.random())) })],
] as const) {
  for (const cache of [true, false]) {
    const title = `${name} store, ${cache ? 'cached' : 'direct'}`;
    test(`${title}: watches resume at once from anywhere while others write, and nothing of it stays`, async () => {
      const kv = await withHistory(await open());
      for (const order of [[...starts].reverse(), starts]) {
        const historyBudget = new HistoryBudget();
        const store = createResourceStore({ kv, options, cache, historyBudget });
        await store.ready();
        const first = (await kv.revision()) + 1;
        const begun = order.map((from) => resume(store, from));
        let last = first;
        for (let i = 0; i < 200; i++) last = await write(kv, `a/${i % 100}`, 'later');
        const resumed = await Promise.all(begun);
        await pollUntil(() => resumed.every(({ revisions }) => revisions.at(-1) === last));
        for (const { from, revisions } of resumed) assert.deepEqual(revisions, between(from, last));
        assert.deepEqual([historyBudget.bytes, historyBudget.pending], [0, 0]);
        // Thirteen pages have it all, and sixteen after the first round; some are cut where a watch found the newest.
        assert.ok(historyBudget.loads < 2 * 16, `${historyBudget.loads} pages were loaded`);
        store.close();
      }
      await kv.close();
    });
  }
}

test('a load is shared by all who wait for it, and stops when the last of them leaves', async () => {
  const { kv, requests, holdUp } = watched(await withHistory(openMemoryStore(), 100));
  const historyBudget = new HistoryBudget();
  const store = createResourceStore({ kv, options, historyBudget });
  await store.ready();
  const open = holdUp();
  const [one, two] = [await resume(store, 10), await resume(store, 20)];
  await pollUntil(() => requests.length === 1);
  one.leave();
  await one.ended;
  assert.equal(requests[0]?.signal?.aborted, false, 'another waits');
  two.leave();
  await pollUntil(() => requests[0]?.signal?.aborted === true);
  open();
  await pollUntil(() => historyBudget.pending === 0);
  assert.deepEqual([requests.length, historyBudget.bytes], [1, 0]);
  assert.deepEqual([one.revisions, two.revisions], [[], []]);
  const three = await resume(store, 10);
  await pollUntil(() => three.revisions.length === 91);
  store.close();
});

test('few pages load at once, over all resources', async () => {
  const { kv, holdUp, loading, most } = watched(await withHistory(openMemoryStore()));
  const historyBudget = new HistoryBudget(undefined, 2);
  const stores = [1, 2, 3].map(() => createResourceStore({ kv, options, historyBudget }));
  for (const store of stores) await store.ready();
  const open = holdUp();
  const resumed = await Promise.all(stores.flatMap((store) => [100, 1_000, 2_000].map((from) => resume(store, from))));
  await pollUntil(() => loading() === 2);
  assert.equal(historyBudget.pending, 9);
  open();
  await pollUntil(() => resumed.every(({ revisions }) => revisions.at(-1) === CHANGES + 1));
  assert.equal(most(), 2);
  for (const { from, revisions } of resumed) assert.deepEqual(revisions, between(from, CHANGES + 1));
  for (const store of stores) store.close();
});

test('for clients that do not read, one page each is loaded, and what stays is bounded', async () => {
  const maxBytes = 200_000;
  const kv = await withHistory(openMemoryStore(), 1_000, 'x'.repeat(10_000));
  const historyBudget = new HistoryBudget(maxBytes);
  const store = createResourceStore({ kv, options, historyBudget });
  await store.ready();
  const froms = [1, 257, 513, 769].flatMap((from) => [from, from]);
  const resumed = await Promise.all(froms.map((from) => resume(store, from, { drained: never })));
  await pollUntil(() => resumed.every(({ revisions }) => revisions.length > 0));
  await write(kv, 'a/0', 'later');
  assert.ok(
    resumed.every(({ revisions }) => revisions.length < 30),
    'only a page was sent',
  );
  assert.ok(historyBudget.loads <= froms.length);
  assert.ok(historyBudget.bytes <= maxBytes, `${historyBudget.bytes}`);
  for (const { leave } of resumed) leave();
  await Promise.all(resumed.map(({ ended }) => ended));
  await pollUntil(() => historyBudget.bytes === 0);
  store.close();
});

test('a client that reads too slowly for the history is ended, and is then too late', async () => {
  const kv = await withHistory(openMemoryStore(), 1_000);
  const store = createResourceStore({ kv, options });
  await store.ready();
  let read = (): void => undefined;
  const slow = await resume(store, 10, { drained: () => new Promise<void>((resolve) => (read = resolve)) });
  await pollUntil(() => slow.revisions.length > 0);
  const reached = slow.revisions.at(-1) ?? 0;
  await kv.compact(900);
  read();
  assert.equal(await slow.ended, undefined);
  const late = await resume(store, reached);
  assert.equal(((await late.ended) as Error).message, `too old resource version: ${reached} (1001)`);
  assert.deepEqual((await resume(store, 900)).from, 900);
  store.close();
});

test('a watch that falls out of the memory again goes on in the store, without gap or repeat', async () => {
  const kv = await withHistory(openMemoryStore(), 1_000);
  const clock = new ManualClock();
  const store = createResourceStore({ kv, options, clock });
  await store.ready();
  let read = (): void => undefined;
  const slow = await resume(store, 900, { drained: () => new Promise<void>((resolve) => (read = resolve)) });
  const readUntil = (revision: number): Promise<boolean> =>
    pollUntil(() => {
      read();
      return (slow.revisions.at(-1) ?? 0) >= revision;
    });
  await withHistory(kv, 300, 'x'.repeat(4_000));
  await readUntil(1_010);
  assert.ok((slow.revisions.at(-1) ?? 0) < 1_100, 'it is sent what is in memory chunk by chunk');
  // Of what is old, memory keeps a hundred changes.
  await clock.move(80_000);
  await write(kv, 'a/1', 'later');
  await readUntil(1_302);
  assert.deepEqual(slow.revisions, between(900, 1_302));
  store.close();
});

test('a watch of one object, or of another namespace, gets of the history what concerns it', async () => {
  const kv = await withHistory(openMemoryStore(), 400);
  for (const cache of [true, false]) {
    const store = createResourceStore({ kv, options, cache });
    await store.ready();
    const one = await resume(store, 10, { namespace: 'a', name: '7' });
    const none = await resume(store, 10, { namespace: 'b' });
    await pollUntil(() => one.revisions.length === 3);
    assert.deepEqual([one.revisions, none.revisions], [[109, 209, 309], []]);
    store.close();
  }
});

test('a page that could not be read is tried again for the next who wants it', async () => {
  const memory = await withHistory(openMemoryStore(), 100);
  let fails = true;
  const kv = new Proxy(memory, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (name === 'changes' && fails) return () => Promise.reject(new Error('cannot read'));
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const store = createResourceStore({ kv, options });
  await store.ready();
  const failed = await resume(store, 10);
  await failed.ended;
  fails = false;
  const resumed = await resume(store, 10);
  await pollUntil(() => resumed.revisions.length === 91);
  store.close();
});
