import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Clock } from '../lib/async/clock.js';
import { pollUntil } from '../lib/testing/poll-until.js';
import type { KubeObject } from '../machinery/object.js';
import { type KeyValueStore, KvError } from '../kv/kv.js';
import { openMemoryStore } from '../kv/memory.js';
import { createResourceStore } from './create-store.js';
import type { StorageMetrics } from './metrics.js';
import { spliceResourceVersion } from './splice.js';
import type { ListRequest, ManagedResourceStore, WatchEvent, WatchRequest } from './store.js';
import { StorageError } from './store.js';
import type { ValueForm } from './values.js';
import { STORED_OTHERWISE as options } from './testing.js';

const pod = (namespace: string, name: string, labels?: Record<string, string>): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name,
    namespace,
    uid: `uid-${name}`,
    creationTimestamp: '2024-01-01T00:00:00Z',
    ...(labels ? { labels } : {}),
  },
});

const everything: ListRequest = {
  namespace: '',
  resourceVersion: '',
  resourceVersionMatch: '',
  limit: 0,
  continue: '',
};

const forms: [string, { cache?: boolean; form?: ValueForm }][] = [
  ['cached', {}],
  ['cached, storage form', { form: { kind: 'storage', mediaType: 'application/test' } }],
  ['direct', { cache: false }],
];
for (const [name, setup] of forms) {
  describe(`resource store, ${name}`, () => {
    const open = (kv: KeyValueStore = openMemoryStore(), clock?: Clock): ManagedResourceStore =>
      createResourceStore({ kv, options, ...setup, ...(clock ? { clock } : {}) });

    it('creates, reads, updates and deletes with revisions in place', async () => {
      const store = open();
      const made = await store.create('a/x', pod('a', 'x'));
      assert.equal(made.object().metadata.resourceVersion, '2');
      assert.equal(
        made.json.toString(),
        '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"a","uid":"uid-x","resourceVersion":"2","creationTimestamp":"2024-01-01T00:00:00Z"}}',
      );
      const changed = await store.update('a/x', 2, { ...made.object(), kind: 'Pod2' });
      assert.equal(changed.revision, 3);
      const read = await store.get('a/x', '');
      assert.equal(read?.object().kind, 'Pod2');
      assert.equal(JSON.parse(read.json.toString()).metadata.resourceVersion, '3');
      assert.equal(read.field('metadata.name'), 'x');
      await assert.rejects(
        store.update('a/x', 2, made.object()),
        (e: StorageError) => e.code === 'conflict' && e.details.current?.revision === 3,
      );
      await assert.rejects(store.create('a/x', pod('a', 'x')), (e: StorageError) => e.code === 'key-exists');
      const gone = await store.delete('a/x', 3);
      assert.equal(JSON.parse(gone.json.toString()).metadata.resourceVersion, '4');
      assert.equal(await store.get('a/x', ''), undefined);
      await assert.rejects(store.delete('a/x', 3), (e: StorageError) => e.code === 'not-found');
      store.close();
    });

    it('pages on one snapshot, with what remains', async () => {
      const store = open();
      for (const key of ['a', 'b', 'c', 'd', 'e']) await store.create(`n/${key}`, pod('n', key));
      await store.create('m/z', pod('m', 'z'));
      const first = await store.list({ ...everything, namespace: 'n', limit: 2 });
      assert.deepEqual(
        [first.items.map(({ key }) => key), first.revision, first.remainingItemCount],
        [['n/a', 'n/b'], 7, 3],
      );
      const token = JSON.parse(Buffer.from(first.continue, 'base64url').toString());
      assert.deepEqual(token, { v: 'meta.k8s.io/v1', rv: 7, start: name === 'direct' ? 'b\0' : '/b\0' });
      await store.create('n/bb', pod('n', 'bb'));
      await store.delete('n/d', 5);
      const second = await store.list({ ...everything, namespace: 'n', limit: 2, continue: first.continue });
      assert.deepEqual(
        [second.items.map(({ key }) => key), second.revision, second.remainingItemCount],
        [['n/c', 'n/d'], 7, 1],
      );
      const third = await store.list({ ...everything, namespace: 'n', limit: 2, continue: second.continue });
      assert.deepEqual(
        [third.items.map(({ key }) => key), third.continue, third.remainingItemCount],
        [['n/e'], '', undefined],
      );
      const selected = await store.list({ ...everything, limit: 1, predicate: ({ key }) => key.endsWith('/e') });
      assert.deepEqual([selected.items.map(({ key }) => key), selected.remainingItemCount], [['n/e'], undefined]);
      store.close();
    });

    it('reads an exact past revision, refuses a future one', async () => {
      const store = open();
      await store.create('a/x', pod('a', 'x'));
      await store.create('a/y', pod('a', 'y'));
      await store.delete('a/x', 2);
      const past = await store.list({ ...everything, resourceVersion: '3', resourceVersionMatch: 'Exact' });
      assert.deepEqual([past.items.map(({ key }) => key), past.revision], [['a/x', 'a/y'], 3]);
      store.close();
      const instant = open(openMemoryStore(), {
        now: () => 0,
        after: (_ms, call) => (setImmediate(call), () => undefined),
      });
      await assert.rejects(
        instant.list({ ...everything, resourceVersion: '99', resourceVersionMatch: 'NotOlderThan' }),
        (e: StorageError) => e.code === 'too-new' && e.message === 'Too large resource version: 99, current: 1',
      );
      instant.close();
    });

    it('refuses a page of a compacted revision with a token for the newest state', async () => {
      const kv = openMemoryStore();
      const before = open(kv);
      for (const key of ['a', 'b', 'c']) await before.create(`n/${key}`, pod('n', key));
      const first = await before.list({ ...everything, namespace: 'n', limit: 1 });
      await before.create('n/d', pod('n', 'd'));
      await kv.compact(5);
      before.close();
      const store = open(kv);
      await assert.rejects(
        store.list({ ...everything, namespace: 'n', limit: 1, continue: first.continue }),
        (e: StorageError) => {
          assert.equal(e.code, 'expired-continue');
          assert.deepEqual(JSON.parse(Buffer.from(e.details.inconsistentContinue ?? '', 'base64url').toString()), {
            v: 'meta.k8s.io/v1',
            rv: -1,
            start: 'a\0',
          });
          return true;
        },
      );
      store.close();
    });

    it('refuses such a page also while the cached state has not changed, and goes on with the token', async () => {
      const kv = openMemoryStore();
      const store = open(kv);
      for (const key of ['a', 'b', 'c']) await store.create(`n/${key}`, pod('n', key));
      const first = await store.list({ ...everything, namespace: 'n', limit: 1 });
      await kv.create('/elsewhere', Buffer.from('1'));
      await kv.compact(first.revision + 1);
      let token = '';
      await assert.rejects(
        store.list({ ...everything, namespace: 'n', limit: 1, continue: first.continue }),
        (e: StorageError) => {
          token = e.details.inconsistentContinue ?? '';
          return e.code === 'expired-continue';
        },
      );
      const rest = await store.list({ ...everything, namespace: 'n', continue: token });
      assert.deepEqual([rest.items.map(({ key }) => key), rest.revision > first.revision], [['n/b', 'n/c'], true]);
      store.close();
    });

    it('watches from nothing, from a revision, and as a streaming list', async () => {
      const store = open();
      await store.create('a/x', pod('a', 'x'));
      await store.create('b/y', pod('b', 'y'));
      const fromNothing = await watching(store, {});
      const fromTwo = await watching(store, { resourceVersion: '2' });
      const streaming = await watching(store, {
        sendInitialEvents: true,
        allowBookmarks: true,
        resourceVersionMatch: 'NotOlderThan',
      });
      const scoped = await watching(store, { namespace: 'a', resourceVersion: '3' });
      await store.update('a/x', 2, pod('a', 'x', { v: '2' }));
      await store.delete('b/y', 3);
      assert.deepEqual(await fromNothing.take(4), ['ADDED a/x 2', 'ADDED b/y 3', 'MODIFIED a/x 4', 'DELETED b/y 5']);
      assert.deepEqual(await fromTwo.take(3), ['ADDED b/y 3', 'MODIFIED a/x 4', 'DELETED b/y 5']);
      assert.deepEqual(await streaming.take(5), [
        'ADDED a/x 2',
        'ADDED b/y 3',
        'BOOKMARK end 3',
        'MODIFIED a/x 4',
        'DELETED b/y 5',
      ]);
      assert.deepEqual(await scoped.take(1), ['MODIFIED a/x 4']);
      store.close();
    });

    it('shows objects that enter and leave a selection as ADDED and DELETED', async () => {
      const store = open();
      const watch = await watching(store, { predicate: ({ labels }) => labels['on'] === 'yes' });
      await store.create('a/x', pod('a', 'x'));
      await store.update('a/x', 2, pod('a', 'x', { on: 'yes' }));
      await store.update('a/x', 3, pod('a', 'x', { on: 'yes', more: 'm' }));
      await store.update('a/x', 4, pod('a', 'x', { on: 'no' }));
      assert.deepEqual(await watch.take(3), ['ADDED a/x 3', 'MODIFIED a/x 4', 'DELETED a/x 5']);
      const left = watch.events[2];
      assert.equal(left?.type === 'DELETED' && left.object.labels['on'], 'yes');
      store.close();
    });

    it('ends a watch whose receiver is full', async () => {
      const store = open();
      const watch = await store.watch(request({}), () => false);
      await store.create('a/x', pod('a', 'x'));
      assert.equal(await watch.ended, undefined);
      store.close();
    });
  });
}

describe('watch cache', () => {
  it('shares the items of a list and of its pages until something changes', async () => {
    const store = createResourceStore({ kv: openMemoryStore(), options });
    for (const name of ['a', 'b', 'c']) await store.create(`n/${name}`, pod('n', name));
    const [whole, again] = [await store.list(everything), await store.list(everything)];
    assert.equal(again.items, whole.items);
    const first = await store.list({ ...everything, limit: 2 });
    const repeated = await store.list({ ...everything, limit: 2 });
    assert.equal(repeated.items, first.items);
    assert.deepEqual({ ...repeated, items: [] }, { ...first, items: [] });
    const rest = { ...everything, limit: 2, continue: first.continue };
    const second = await store.list(rest);
    assert.deepEqual(
      second.items.map(({ key }) => key),
      ['n/c'],
    );
    assert.equal((await store.list(rest)).items, second.items);
    await store.create('n/d', pod('n', 'd'));
    assert.equal((await store.list(everything)).items.length, 4);
    assert.deepEqual((await store.list(rest)).items, second.items);
    assert.deepEqual((await store.list({ ...everything, limit: 2 })).remainingItemCount, 2);
    store.close();
  });

  it('gives all watchers the same event', async () => {
    const store = createResourceStore({ kv: openMemoryStore(), options });
    const one = await watching(store, {});
    const two = await watching(store, { predicate: () => true });
    await store.create('a/x', pod('a', 'x'));
    await one.take(1);
    await two.take(1);
    assert.equal(one.events[0], two.events[0]);
    store.close();
  });

  it('ends a watch from before its history with that error', async () => {
    const kv = openMemoryStore();
    const before = createResourceStore({ kv, options });
    for (const key of ['a', 'b', 'c']) await before.create(`n/${key}`, pod('n', key));
    const store = createResourceStore({ kv, options });
    await kv.compact(4);
    const { ended } = await store.watch(request({ resourceVersion: '2' }), () => true);
    assert.equal((await ended)?.message, 'too old resource version: 2 (4)');
    store.close();
    before.close();
  });

  it('resumes a watch from before it was filled while the store has the history', async () => {
    const kv = openMemoryStore();
    const before = createResourceStore({ kv, options });
    for (const key of ['a', 'b', 'c']) await before.create(`n/${key}`, pod('n', key));
    await before.update('n/b', 3, pod('n', 'b', { v: '2' }));
    before.close();
    const store = createResourceStore({ kv, options });
    const watch = await watching(store, { resourceVersion: '3' });
    await store.delete('n/a', 2);
    assert.deepEqual(await watch.take(3), ['ADDED n/c 4', 'MODIFIED n/b 5', 'DELETED n/a 6']);
    store.close();
  });

  it('names an object that cannot be read, and goes on once it is mended', async () => {
    const kv = openMemoryStore();
    const store = createResourceStore({ kv, options });
    await store.create('a/x', pod('a', 'x'));
    await kv.create('/registry/pods/a/bad', Buffer.from('not json'));
    await assert.rejects(
      store.list(everything),
      (e: StorageError) => e.code === 'corrupt' && e.details.fault?.key === 'a/bad',
    );
    await kv.delete('/registry/pods/a/bad', 3);
    assert.deepEqual(
      (await store.list(everything)).items.map(({ key }) => key),
      ['a/x'],
    );
    store.close();
  });

  it('names an object whose damage shows only when it is looked into', async () => {
    const kv = openMemoryStore();
    const store = createResourceStore({ kv, options });
    await kv.create('/registry/pods/a/half', Buffer.from('{"metadata":{"name":"half"},"spec":{"a":}}'));
    const half = await store.get('a/half', '');
    assert.throws(
      () => half?.object(),
      (e: StorageError) => e.code === 'corrupt' && e.details.fault?.key === 'a/half',
    );
    store.close();
  });

  it('starts over when the store dropped what its watch needed, and lets its watchers relist', async () => {
    const kv = openMemoryStore();
    let lose = (): void => undefined;
    const losing = new Proxy(kv, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (name !== 'watch') return typeof member === 'function' ? member.bind(target) : member;
        const watch: KeyValueStore['watch'] = (watched, receiver) => {
          const running = target.watch(watched, receiver);
          lose = () => {
            running.cancel();
            receiver.failed(new KvError('compacted', 'gone'));
          };
          return running;
        };
        return watch;
      },
    });
    const store = createResourceStore({ kv: losing, options });
    await store.create('a/x', pod('a', 'x'));
    const watch = await store.watch(request({}), () => true);
    lose();
    await kv.create('/registry/pods/a/y', Buffer.from(JSON.stringify(pod('a', 'y'))));
    assert.equal(await watch.ended, undefined);
    assert.deepEqual(
      (await store.list(everything)).items.map(({ key }) => key),
      ['a/x', 'a/y'],
    );
    await store.create('a/z', pod('a', 'z'));
    assert.equal((await store.get('a/z', ''))?.revision, 4);
    store.close();
  });

  it('counts without filling a cache that nobody has read', async () => {
    const kv = openMemoryStore();
    await kv.create('/registry/pods/a/x', Buffer.from(JSON.stringify(pod('a', 'x'))));
    let filled = 0;
    const store = createResourceStore({ kv, options, metrics: { filled: () => void filled++ } });
    assert.equal(await store.count(), 1);
    assert.equal(filled, 0);
    await store.create('a/y', pod('a', 'y'));
    await store.list(everything);
    assert.equal(filled, 1);
    assert.equal(await store.count(), 2);
    store.close();
  });

  it('counts an object that an update creates as an update', async () => {
    const reported: string[] = [];
    const metrics: StorageMetrics = { request: (operation) => void reported.push(operation) };
    const store = createResourceStore({ kv: openMemoryStore(), options, metrics, cache: false });
    await store.create('a/x', pod('a', 'x'));
    await store.create('a/y', pod('a', 'y'), { byUpdate: true });
    assert.deepEqual(reported, ['create', 'update']);
    store.close();
  });

  it('counts events for each watch of what is not cached, and once for a cache', async () => {
    const counted = async (cache: boolean): Promise<string[]> => {
      const reported: string[] = [];
      const metrics: StorageMetrics = {
        received: (count) => void reported.push(`${count} to a watch`),
        cacheReceived: (count) => void reported.push(`${count} to the cache`),
      };
      const kv = openMemoryStore();
      const watch = kv.watch.bind(kv);
      let begun = 0;
      kv.watch = (...wanted) => (begun++, watch(...wanted));
      const store = createResourceStore({ kv, options, metrics, cache });
      for (let i = 0; i < 2; i++) await watching(store, { sendInitialEvents: true, resourceVersion: '' });
      await pollUntil(() => begun === (cache ? 1 : 2));
      await store.create('a/x', pod('a', 'x'));
      store.close();
      return reported;
    };
    assert.deepEqual(await counted(true), ['1 to the cache']);
    assert.deepEqual(await counted(false), ['1 to a watch', '1 to a watch']);
  });

  it('counts what lists fetched and returned, and what watches began with', async () => {
    const reported: string[] = [];
    const nodeOf = (object: object): string => (object as { spec: { nodeName: string } }).spec.nodeName;
    const metrics: StorageMetrics = {
      cacheListed: (index, fetched, returned) => void reported.push(`${index} ${returned} of ${fetched}`),
      watchStarted: (events) => void reported.push(`began with ${events}`),
    };
    const store = createResourceStore({
      kv: openMemoryStore(),
      options: {
        ...options,
        indexedField: 'spec.nodeName',
        fieldsOf: (object) => ({ 'spec.nodeName': nodeOf(object) }),
      },
      metrics,
    });
    for (const [name, nodeName] of [
      ['a/x', 'n1'],
      ['a/y', 'n2'],
      ['b/x', 'n3'],
      ['b/y', 'n4'],
    ] as const) {
      const [namespace = '', own = ''] = name.split('/');
      await store.create(name, { ...pod(namespace, own), spec: { nodeName } } as KubeObject);
    }
    await store.list(everything);
    await store.list({ ...everything, namespace: 'a' });
    await store.list({ ...everything, namespace: 'b', predicate: ({ key }) => key === 'b/y' });
    const fieldValues = [{ field: 'spec.nodeName', value: 'n1' }];
    await store.list({ ...everything, fieldValues, predicate: ({ key }) => key === 'a/x' });
    assert.deepEqual(reported.splice(0), [' 4 of 4', ' 2 of 2', ' 1 of 2', 'f:spec.nodeName 1 of 1']);
    await watching(store, { sendInitialEvents: true, resourceVersion: '' });
    assert.deepEqual(reported, ['began with 4']);
    store.close();
  });

  it('sends bookmarks about every minute to who allows them', async () => {
    let now = 0;
    const timers: (() => void)[] = [];
    const clock: Clock = { now: () => now, after: (_ms, call) => (timers.push(call), () => undefined) };
    const store = createResourceStore({ kv: openMemoryStore(), options, clock });
    const watch = await watching(store, { allowBookmarks: true });
    await store.create('a/x', pod('a', 'x'));
    now = 61_000;
    for (const call of timers.splice(0)) call();
    assert.deepEqual(await watch.take(2), ['ADDED a/x 2', 'BOOKMARK 2']);
    store.close();
  });

  it('sends the bookmarks of watches that began together in parts, and none that goes back', async () => {
    let now = 0;
    const timers: (() => void)[] = [];
    const clock: Clock = { now: () => now, after: (_ms, call) => (timers.push(call), () => undefined) };
    const store = createResourceStore({ kv: openMemoryStore(), options, clock });
    const said: number[][] = [];
    for (let i = 0; i < 1200; i++) {
      const revisions: number[] = [];
      said.push(revisions);
      await store.watch(request({ allowBookmarks: true }), (events) => {
        for (const event of events) revisions.push(event.type === 'BOOKMARK' ? event.revision : event.object.revision);
        return true;
      });
    }
    await store.create('a/w', pod('a', 'w'));
    now = 61_000;
    for (const call of timers.splice(0)) call();
    const reported = (): number => said.filter((revisions) => revisions.length > 1).length;
    while (reported() === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.ok(reported() < 1200);
    await store.create('a/x', pod('a', 'x'));
    while (said.some((revisions) => revisions.length < 3)) await new Promise((resolve) => setImmediate(resolve));
    for (const revisions of said)
      assert.deepEqual(
        revisions,
        [...revisions].sort((a, b) => a - b),
      );
    store.close();
  });
});

describe('resourceVersion in stored JSON', () => {
  const cases: [string, string][] = [
    [
      '{"kind":"A","metadata":{"name":"a","uid":"u","creationTimestamp":null}}',
      '{"kind":"A","metadata":{"name":"a","uid":"u","resourceVersion":"7","creationTimestamp":null}}',
    ],
    [
      '{"metadata":{"name":"a\\"}\\\\","uid":"u"},"spec":{}}',
      '{"metadata":{"name":"a\\"}\\\\","uid":"u","resourceVersion":"7"},"spec":{}}',
    ],
    [
      '{"data":{"metadata":{"uid":"x"},"n":[1,{"a":"]"}]},"metadata":{"creationTimestamp":"t","name":"a","uid":"u"}}',
      '{"data":{"metadata":{"uid":"x"},"n":[1,{"a":"]"}]},"metadata":{"creationTimestamp":"t","name":"a","resourceVersion":"7","uid":"u"}}',
    ],
    ['{"metadata":{}}', '{"metadata":{"resourceVersion":"7"}}'],
    [
      '{"kind":"A","apiVersion":"v1","metadata":{"name":"é","generateName":"g-","namespace":"b","uid":"u","labels":{"uid":"x"}}}',
      '{"kind":"A","apiVersion":"v1","metadata":{"name":"é","generateName":"g-","namespace":"b","uid":"u","resourceVersion":"7","labels":{"uid":"x"}}}',
    ],
    [
      '{"kind":"A","apiVersion":"v1","metadata":{"name":"a","labels":{"uid":"x"}}}',
      '{"kind":"A","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7","labels":{"uid":"x"}}}',
    ],
  ];
  for (const [stored, served] of cases) {
    it(`goes into ${stored}`, () => assert.equal(spliceResourceVersion(Buffer.from(stored), 7).toString(), served));
  }
});

const request = (part: Partial<WatchRequest>): WatchRequest => ({
  namespace: '',
  resourceVersion: '',
  resourceVersionMatch: '',
  allowBookmarks: false,
  signal: new AbortController().signal,
  ...part,
});

/** A watch whose events can be awaited, as texts. */
async function watching(
  store: ManagedResourceStore,
  part: Partial<WatchRequest>,
): Promise<{ events: WatchEvent[]; take(count: number): Promise<string[]> }> {
  const events: WatchEvent[] = [];
  let notify = (): void => undefined;
  await store.watch(request(part), (batch) => {
    events.push(...batch);
    notify();
    return true;
  });
  return {
    events,
    async take(count) {
      while (events.length < count) await new Promise<void>((resolve) => (notify = resolve));
      return events.map((event) =>
        event.type === 'BOOKMARK'
          ? `BOOKMARK ${event.initialEventsEnd ? 'end ' : ''}${event.revision}`
          : `${event.type} ${event.object.key} ${event.object.revision}`,
      );
    },
  };
}
