import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { horizontalPodAutoscalers } from '../../apis/autoscaling/horizontal-pod-autoscaler.js';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { KvError } from '../../kv/kv.js';
import { openMemoryStore } from '../../kv/memory.js';
import type { KindDefinition } from '../../registry/kind.js';
import { pollUntil } from '../../lib/testing/poll-until.js';
import { type Body, TestApi, type TestWatch } from '../../server/testing/test-api.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const kinds = [configMaps] as readonly KindDefinition[];
const open = (over: Partial<ConstructorParameters<typeof TestApi>[0]> = {}): TestApi => new TestApi({ kinds, ...over });
const make = async (api: TestApi, name: string, labels: object = {}): Promise<Body> =>
  (await api.post(MAPS, { metadata: { name, labels } })).body;
const relabel = (api: TestApi, name: string, labels: object): Promise<unknown> =>
  api.patch(`${MAPS}/${name}`, 'application/merge-patch+json', { metadata: { labels } });

async function nextEvents(watch: TestWatch, count: number): Promise<string[]> {
  const seen: string[] = [];
  for (let i = 0; i < count; i++) {
    const { type, object } = await watch.next();
    seen.push(`${type} ${object.metadata.name ?? ''}`.trim());
  }
  return seen;
}

for (const cache of [true, false]) {
  const stored = cache ? 'cached' : 'direct';

  test(`${stored}: a watch from nowhere begins with what is there`, async () => {
    const api = open({ cache });
    await make(api, 'a');
    await make(api, 'b');
    for (const version of ['', '&resourceVersion=0']) {
      const watch = await api.watch(`${MAPS}?watch=true${version}`);
      assert.equal(watch.headers['content-type'], 'application/json');
      assert.deepEqual((await nextEvents(watch, 2)).sort(), ['ADDED a', 'ADDED b']);
      watch.stop();
      await watch.ended;
    }
  });

  test(`${stored}: a watch from a version shows what came after it, in order`, async () => {
    const api = open({ cache });
    const { resourceVersion } = (await make(api, 'a')).metadata;
    await make(api, 'b');
    const watch = await api.watch(`${MAPS}?watch=1&resourceVersion=${resourceVersion}`);
    await relabel(api, 'a', { x: 'y' });
    await api.delete(`${MAPS}/b`);
    assert.deepEqual(await nextEvents(watch, 3), ['ADDED b', 'MODIFIED a', 'DELETED b']);
    watch.stop();
  });

  test(`${stored}: an object that comes to match is added, one that no longer does is deleted`, async () => {
    const api = open({ cache });
    const { resourceVersion } = (await make(api, 'a')).metadata;
    const watch = await api.watch(`${MAPS}?watch=1&resourceVersion=${resourceVersion}&labelSelector=x%3Dy`);
    await relabel(api, 'a', { x: 'y' });
    await relabel(api, 'a', { x: 'y', z: '1' });
    await relabel(api, 'a', { x: null });
    await relabel(api, 'a', { z: '2' });
    await make(api, 'b', { x: 'y' });
    assert.deepEqual(await nextEvents(watch, 4), ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED b']);
    watch.stop();
  });

  test(`${stored}: a watch from the beginning that allows bookmarks gets one where the initial events end`, async () => {
    const api = open({ cache });
    await make(api, 'a');
    for (const from of ['', '&resourceVersion=0']) {
      const watch = await api.watch(`${MAPS}?watch=1&allowWatchBookmarks=true${from}`);
      assert.deepEqual(await nextEvents(watch, 1), ['ADDED a']);
      const { type, object } = await watch.next();
      assert.deepEqual([type, object.metadata.annotations], ['BOOKMARK', { 'k8s.io/initial-events-end': 'true' }]);
      watch.stop();
    }
  });

  test(`${stored}: a streaming list ends its first part with a bookmark`, async () => {
    const api = open({ cache });
    await make(api, 'a');
    const query = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
    const watch = await api.watch(`${MAPS}?${query}`);
    assert.deepEqual(await nextEvents(watch, 1), ['ADDED a']);
    const { type, object } = await watch.next();
    assert.equal(type, 'BOOKMARK');
    assert.deepEqual(object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
    assert.equal(object.metadata.resourceVersion, (await api.get(MAPS)).body.metadata.resourceVersion);
    assert.equal(object.kind, 'ConfigMap');
    await make(api, 'b');
    assert.deepEqual(await nextEvents(watch, 1), ['ADDED b']);
    watch.stop();
  });

  test(`${stored}: a history that is gone is an error inside the stream`, async () => {
    const kv = openMemoryStore();
    const before = new TestApi({ kinds, kv });
    await make(before, 'a');
    for (let i = 0; i < 5; i++) await relabel(before, 'a', { i: String(i) });
    await kv.compact(await kv.revision());
    const api = open({ cache, kv });
    const watch = await api.watch(`${MAPS}?watch=1&resourceVersion=2`);
    assert.equal(watch.status, 200);
    const { type, object } = await watch.next();
    assert.equal(type, 'ERROR');
    assert.deepEqual([object.kind, object.code, object.reason], ['Status', 410, 'Expired']);
    assert.match(
      object.message,
      cache ? /^too old resource version: 2 \(\d+\)$/ : /^The resourceVersion for the provided watch is too old\.$/,
    );
    await watch.ended;
  });
}

test('options that do not go together are refused before the stream begins', async () => {
  const api = open();
  for (const query of [
    'sendInitialEvents=true',
    'resourceVersionMatch=NotOlderThan',
    'sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x',
  ]) {
    assert.equal((await api.get(`${MAPS}?watch=1&${query}`)).status, 422, query);
  }
  // A watch that starts at the beginning requests what is there first, and so states how the version is meant.
  assert.equal((await api.get(`${MAPS}?watch=1&continue=x`)).status, 422);
  const old = await api.get(`/api/v1/watch/namespaces/n/configmaps?sendInitialEvents=true`);
  assert.match(old.body.message, /sendInitialEvents is forbidden for list/);
  assert.equal((await api.get(`${MAPS}?watch=1&resourceVersion=x`)).status, 500);
  assert.equal((await api.get(`${MAPS}?watch=1&timeoutSeconds=x`)).status, 400);
  assert.equal((await api.get(`${MAPS}?watch=1&fieldSelector=spec.x%3D1`)).status, 400);
  assert.equal((await api.get(`${MAPS}?watch=1`, { accept: 'text/csv' })).status, 406);
});

test('an initial state that cannot be reached in time is a timeout inside the stream', async () => {
  const api = open();
  await make(api, 'a');
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=1000000';
  const watch = await api.watch(`${MAPS}?${query}`);
  const [{ type, object }] = await Promise.all([watch.next(), api.advance(3000)]);
  assert.equal(type, 'ERROR');
  assert.deepEqual([object.code, object.reason], [504, 'Timeout']);
  assert.match(object.message, /^Timeout: Too large resource version: 1000000, current: \d+$/);
  assert.equal(object.details?.retryAfterSeconds, 1);
});

test('a store that fails under a watch is an error of the server, not of its age', async () => {
  const kv = openMemoryStore();
  let fail: (() => void) | undefined;
  const failing = new Proxy(kv, {
    get(target, name) {
      if (name === 'watch') {
        return (...[request, receiver]: Parameters<typeof kv.watch>) => {
          fail = () => receiver.failed(new KvError('unavailable', 'no leader'));
          return target.watch(request, receiver);
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  const api = open({ cache: false, kv: failing });
  await make(api, 'a');
  const watch = await api.watch(`${MAPS}?watch=1`);
  await watch.next();
  await pollUntil(() => fail !== undefined);
  fail?.();
  const { type, object } = await watch.next();
  assert.equal(type, 'ERROR');
  assert.deepEqual(
    [object.code, object.reason, object.message],
    [500, 'InternalError', 'Internal error occurred: no leader'],
  );
});

test('bookmarks come to clients that allow them, and carry the newest version', async () => {
  const api = open();
  const { resourceVersion } = (await make(api, 'a')).metadata;
  const watch = await api.watch(`${MAPS}?watch=1&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`);
  await api.post('/api/v1/namespaces/other/configmaps', { metadata: { name: 'elsewhere' } });
  await api.advance(61_000);
  await api.advance(1000);
  const { type, object } = await watch.next();
  assert.equal(type, 'BOOKMARK');
  assert.ok(Number(object.metadata.resourceVersion) > Number(resourceVersion));
  watch.stop();
});

test('a stop of the client or of the server ends the stream without a word', async () => {
  const shutdown = new AbortController();
  const api = open({ services: { shutdown: shutdown.signal } });
  const left = await api.watch(`${MAPS}?watch=1`);
  left.stop();
  await left.ended;
  const ended = await api.watch(`${MAPS}?watch=1`);
  shutdown.abort();
  await ended.ended;
  await assert.rejects(ended.next(), /the watch is over/);
});

test('a watch lasts as long as requested, if that is not for ever', async () => {
  const api = open();
  await make(api, 'a');
  const long = await api.watch(`${MAPS}?watch=1&timeoutSeconds=99999999999`);
  assert.deepEqual(await nextEvents(long, 1), ['ADDED a']);
  await make(api, 'b');
  assert.deepEqual(await nextEvents(long, 1), ['ADDED b']);
  long.stop();
  const past = await api.watch(`${MAPS}?watch=1&timeoutSeconds=-5`);
  // So many seconds are one less than none, in nanoseconds of 64 bits.
  const round = await api.watch(`${MAPS}?watch=1&timeoutSeconds=9223372036854775807`);
  // The server's timers let a process end: this one is kept until the watch is over.
  const alive = setInterval(() => undefined, 1000);
  await Promise.all([past.ended, round.ended]);
  clearInterval(alive);
});

test('a watch of one object, by its name or by the old path', async () => {
  const api = open();
  const { resourceVersion } = (await make(api, 'a')).metadata;
  const from = `resourceVersion=${resourceVersion}`;
  const watches = await Promise.all(
    [
      `${MAPS}?watch=1&fieldSelector=metadata.name%3Da&${from}`,
      `/api/v1/watch/namespaces/n/configmaps/a?${from}`,
      `/api/v1/watch/namespaces/n/configmaps?fieldSelector=metadata.name%3Da&${from}`,
    ].map((target) => api.watch(target)),
  );
  await make(api, 'b');
  await relabel(api, 'a', { x: 'y' });
  for (const watch of watches) {
    assert.deepEqual(await nextEvents(watch, 1), ['MODIFIED a']);
    watch.stop();
  }
  const other = await api.get('/api/v1/watch/namespaces/n/configmaps/a?fieldSelector=metadata.name%3Db');
  assert.equal(other.status, 400);
});

test('tables and bare metadata are watched, too', async () => {
  const api = open();
  await make(api, 'a');
  const table = await api.watch(`${MAPS}?watch=1`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  const first = (await table.next()).object;
  assert.equal(first.kind, 'Table');
  assert.deepEqual(
    first.columnDefinitions?.map(({ name }) => name),
    ['Name', 'Data', 'Age'],
  );
  assert.deepEqual(first.rows[0]?.cells.slice(0, 2), ['a', 0]);
  assert.equal(first.rows[0]?.object?.kind, 'PartialObjectMetadata');
  await make(api, 'b');
  const second = (await table.next()).object;
  assert.equal(second.columnDefinitions, null);
  assert.equal(second.rows[0]?.cells[0], 'b');
  table.stop();
  const bare = await api.watch(`${MAPS}?watch=1`, {
    accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  });
  const { object } = await bare.next();
  assert.deepEqual(
    [object.kind, object.apiVersion, object.data],
    ['PartialObjectMetadata', 'meta.k8s.io/v1', undefined],
  );
  bare.stop();
});

test('a watch in the form of a list ends with the first that happens, for nothing has that form', async () => {
  const api = open();
  const { resourceVersion = '' } = (await api.get(MAPS)).body.metadata;
  const watch = await api.watch(`${MAPS}?watch=1&resourceVersion=${resourceVersion}`, {
    accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  });
  assert.equal(watch.status, 200);
  await make(api, 'a');
  await watch.ended;
  await assert.rejects(watch.nextBytes(), /over/);
});

test('each form of a watch is labelled as such', async () => {
  const api = open();
  await make(api, 'a');
  const forms: readonly [string, string][] = [
    ['application/vnd.kubernetes.protobuf', 'application/vnd.kubernetes.protobuf;stream=watch'],
    ['application/cbor', 'application/cbor-seq'],
    ['application/json;stream=watch', 'application/json'],
  ];
  for (const [accept, label] of forms) {
    const watch = await api.watch(`${MAPS}?watch=1`, { accept });
    assert.equal(watch.headers['content-type'], label, accept);
    assert.ok((await watch.nextBytes()).length > 20);
    watch.stop();
  }
  const yaml = await api.get(`${MAPS}?watch=1`, { accept: 'application/yaml' });
  assert.equal(yaml.status, 406);
  assert.match(yaml.bytes.toString(), /only the following media types are accepted/);
  assert.doesNotMatch(yaml.bytes.toString(), /application\/yaml/);
});

test('an event is shown in the version of its watch', async () => {
  const api = new TestApi({ kinds: [horizontalPodAutoscalers as unknown as KindDefinition] });
  const path = (version: string): string => `/apis/autoscaling/${version}/namespaces/n/horizontalpodautoscalers`;
  const watches = await Promise.all(['v1', 'v2'].map((version) => api.watch(`${path(version)}?watch=1`)));
  const made = await api.post(path('v1'), {
    metadata: { name: 'h' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      maxReplicas: 3,
      targetCPUUtilizationPercentage: 50,
    },
  });
  assert.equal(made.status, 201, made.bytes.toString());
  const [v1, v2] = await Promise.all(watches.map((watch) => watch.next()));
  assert.deepEqual([v1?.object.apiVersion, v1?.object.spec['targetCPUUtilizationPercentage']], ['autoscaling/v1', 50]);
  assert.equal(v2?.object.apiVersion, 'autoscaling/v2');
  assert.ok(Array.isArray(v2?.object.spec['metrics']));
  for (const watch of watches) watch.stop();
});

test('whoever lists and then watches knows, after each event, what another list would show', async () => {
  const step = fc.record({
    name: fc.integer({ min: 0, max: 4 }),
    action: fc.constantFrom('create', 'label', 'unlabel', 'touch', 'delete'),
  });
  const steps = fc.array(step, { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(steps, steps, fc.boolean(), fc.boolean(), async (before, after, cache, selected) => {
      const api = open({ cache });
      const run = async ({ name, action }: { name: number; action: string }): Promise<void> => {
        const target = `${MAPS}/m${name}`;
        if (action === 'create') await make(api, `m${name}`, name % 2 === 0 ? { x: 'y' } : {});
        else if (action === 'label') await relabel(api, `m${name}`, { x: 'y' });
        else if (action === 'unlabel') await relabel(api, `m${name}`, { x: null });
        else if (action === 'delete') await api.delete(target);
        else await api.patch(target, 'application/merge-patch+json', { data: { at: String(Math.random()) } });
      };
      const query = selected ? '&labelSelector=x%3Dy' : '';
      for (const one of before) await run(one);
      const first = (await api.get(`${MAPS}?x=1${query}`)).body;
      const known = new Map(first.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
      const watch = await api.watch(`${MAPS}?watch=1&resourceVersion=${first.metadata.resourceVersion}${query}`);
      for (const one of after) await run(one);
      // An object that all watches show marks the end.
      await make(api, 'end', { x: 'y' });
      let last = Number(first.metadata.resourceVersion);
      for (;;) {
        const { type, object } = await watch.next();
        const { name, resourceVersion } = object.metadata;
        assert.ok(Number(resourceVersion) > last);
        last = Number(resourceVersion);
        if (type === 'DELETED') assert.ok(known.delete(name));
        else {
          assert.equal(known.has(name), type === 'MODIFIED');
          known.set(name, resourceVersion);
        }
        if (name === 'end') break;
      }
      watch.stop();
      const second = (await api.get(`${MAPS}?x=1${query}`)).body;
      const shown = new Map(second.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
      assert.deepEqual(known, shown);
    }),
    { numRuns: 60 },
  );
});

test('what cannot be watched says so at once', async () => {
  const listed = { ...configMaps, verbs: ['get', 'list'] } as unknown as KindDefinition;
  const { status, body } = await open({ kinds: [listed] }).get(`${MAPS}?watch=true`);
  assert.deepEqual([status, body.message], [405, 'watch is not supported on resources of kind "configmaps"']);
});
