import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { JsonObject, KubeObject } from '../../machinery/object.js';
import { DecodeError } from '../../schema/json/decode.js';
import { openMemoryStore } from '../../kv/memory.js';
import { createResourceStore } from '../../storage/create-store.js';
import {
  type ManagedResourceStore,
  type ResourceStoreOptions,
  StorageError,
  type StoredObject,
  type WatchEvent,
  type WatchRequest,
} from '../../storage/store.js';
import { type Form, inForm } from './converter.js';
import type { Converted } from './converted.js';
import { VersionView } from './version-view.js';
import { PODS } from '../../storage/testing.js';

const V1 = 'example.test/v1';
const V2 = 'example.test/v2';
const EVERYTHING = { namespace: '', resourceVersion: '', resourceVersionMatch: '', limit: 0, continue: '' } as const;

const options: ResourceStoreOptions = {
  ...PODS,
  resource: { group: 'example.test', resource: 'things' },
  typeName: `${V2}, Kind=Thing`,
  prefix: '/registry/example.test/things/',
};

const thing = (apiVersion: string, name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion,
  kind: 'Thing',
  metadata: { name, namespace: 'ns', uid: `u-${name}`, labels },
});

let base: ManagedResourceStore;
let calls: string[];
let failure: string | undefined;
let nowMs: number;
/** Things as v2, while v1 is stored. */
let asV2: VersionView;

/** Writes into a label where an object comes from. */
const converter = {
  async convert(objects: readonly Readonly<JsonObject>[], apiVersion: string, form: Form = {}): Promise<Converted[]> {
    calls.push(`${objects.length} to ${apiVersion}`);
    if (failure !== undefined) throw new StorageError('conversion', failure);
    return objects.map((object) => {
      const { metadata, apiVersion: from } = object as unknown as KubeObject;
      assert.equal(metadata.resourceVersion, undefined);
      const labels = { ...metadata.labels, from: from ?? '' };
      const converted = { ...object, apiVersion, metadata: { ...metadata, labels } };
      return { object: () => inForm(form, converted) };
    });
  },
};

const view = (apiVersion: string, storageApiVersion = V1): VersionView =>
  new VersionView({
    base,
    options,
    apiVersion,
    storageApiVersion,
    converter,
    formOf: () => ({}),
    nowMs: () => nowMs,
  });

beforeEach(() => {
  base = createResourceStore({ kv: openMemoryStore(), options });
  calls = [];
  failure = undefined;
  nowMs = 0;
  asV2 = view(V2);
});
afterEach(() => base.close());

const isFromV1 = ({ labels }: StoredObject): boolean => labels['from'] === V1;
/** As requests say it, also what it wants of labels. */
const FROM_V1 = { predicate: isFromV1, labels: (own: StoredObject['labels']) => own['from'] === V1 };
const isMarked = ({ labels }: StoredObject): boolean => labels['marked'] === 'yes';

test('an object is read in any version, and converted once for each by readers of the cache', async () => {
  await base.create('ns/a', thing(V1, 'a'));
  for (const _ of [1, 2]) {
    const read = await asV2.get('ns/a', '0');
    assert.equal(read?.object().apiVersion, V2);
    assert.equal(read.object().metadata.resourceVersion, '2');
  }
  assert.deepEqual(calls, [`1 to ${V2}`]);
  assert.equal((await view(V1).get('ns/a', ''))?.object().apiVersion, V1);
  assert.deepEqual(calls, [`1 to ${V2}`]);
});

test('a consistent read fails when the object cannot be converted any more', async () => {
  await base.create('ns/a', thing(V1, 'a'));
  assert.equal((await asV2.get('ns/a', ''))?.object().apiVersion, V2);
  failure = 'not today';
  await assert.rejects(asV2.get('ns/a', ''), /not today/);
  assert.equal(asV2.local?.getCached('ns/a'), undefined);
  assert.equal((await asV2.get('ns/a', '0'))?.object().apiVersion, V2);
});

test('an object is stored in the version to store, and answered in that of the request', async () => {
  const made = await asV2.create('ns/a', thing(V2, 'a'));
  assert.equal(made.object().apiVersion, V2);
  assert.equal((await base.get('ns/a', ''))?.object().apiVersion, V1);
  const changed = await asV2.update('ns/a', made.revision, thing(V2, 'a', { more: 'x' }));
  assert.equal(changed.labels['more'], 'x');
  const stale = asV2.update('ns/a', made.revision, thing(V2, 'a'));
  await assert.rejects(stale, (e: StorageError) => e.details.current?.object().apiVersion === V2);
  assert.equal((await asV2.delete('ns/a', changed.revision)).object().apiVersion, V2);
});

test('what lies in an older version is known to', async () => {
  await base.create('ns/a', thing(V1, 'a'));
  assert.equal(await asV2.isStale('ns/a', 2, true), false);
  assert.equal(await view(V2, V2).isStale('ns/a', 2, true), true);
});

test('a list is converted in one call, and selected by what is seen', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await base.create(`ns/${name}`, thing(name === 'b' ? V2 : V1, name));
  const { items } = await asV2.list({ ...EVERYTHING, ...FROM_V1 });
  assert.deepEqual(
    items.map(({ key }) => key),
    ['ns/a', 'ns/c', 'ns/d'],
  );
  assert.deepEqual(calls, [`3 to ${V2}`]);
  const page = await asV2.list({ ...EVERYTHING, limit: 2, ...FROM_V1 });
  assert.deepEqual(
    page.items.map(({ key }) => key),
    ['ns/a', 'ns/c'],
  );
  const rest = await asV2.list({ ...EVERYTHING, limit: 2, continue: page.continue, ...FROM_V1 });
  assert.deepEqual([rest.items.map(({ key }) => key), rest.continue], [['ns/d'], '']);
});

test('a long list is converted in parts', async () => {
  for (let i = 0; i < 501; i++) await base.create(`ns/x${i}`, thing(V1, `x${i}`));
  assert.equal((await asV2.list(EVERYTHING)).items.length, 501);
  assert.deepEqual(calls, [`500 to ${V2}`, `1 to ${V2}`]);
});

test('a failed conversion fails what needed it, and nothing else', async () => {
  await base.create('ns/a', thing(V1, 'a'));
  failure = 'no conversion today';
  await assert.rejects(asV2.get('ns/a', ''), { code: 'conversion', message: failure });
  await assert.rejects(asV2.list({ ...EVERYTHING, limit: 5 }), { code: 'conversion', message: failure });
  await assert.rejects(asV2.create('ns/b', thing(V2, 'b')), { message: failure });
  assert.equal(await base.get('ns/b', ''), undefined);
  assert.equal((await view(V1).get('ns/a', ''))?.object().apiVersion, V1);
  failure = undefined;
  assert.equal((await asV2.get('ns/a', ''))?.object().apiVersion, V2);
});

test('what came back is brought into the form of its version before it is stored', async () => {
  const formOf = (apiVersion: string): Form => ({
    prune(object) {
      const { metadata, ...rest } = object as unknown as KubeObject;
      return { ...rest, metadata: { ...metadata, annotations: { fit: apiVersion } } };
    },
  });
  const fitting = new VersionView({
    base,
    options,
    apiVersion: V2,
    storageApiVersion: V1,
    converter,
    formOf,
    nowMs: () => 0,
  });
  const made = await fitting.create('ns/a', thing(V2, 'a'));
  assert.deepEqual(made.object().metadata.annotations, { fit: V2 });
  assert.deepEqual((await base.get('ns/a', ''))?.object().metadata.annotations, { fit: V1 });
});

test('an object that cannot be brought into form ends a watch, and nothing else', async () => {
  const prune = (): never => {
    throw new DecodeError('no form');
  };
  const formOf = (): Form => ({ prune });
  asV2 = new VersionView({ base, options, apiVersion: V2, storageApiVersion: V1, converter, formOf, nowMs: () => 0 });
  const events = await watched({}, 1, async () => void (await base.create('ns/a', thing(V1, 'a'))));
  assert.deepEqual(events, ['no form']);
  await assert.rejects(asV2.get('ns/a', ''), { code: 'conversion', message: 'no form' });
});

test('a dry run goes the same way', async () => {
  const made = await asV2.dryRunResult(thing(V2, 'a'));
  assert.deepEqual([made.apiVersion, made.metadata.labels], [V2, { from: V1 }]);
  assert.deepEqual(calls, [`1 to ${V1}`, `1 to ${V2}`]);
});

/** The events of a watch, until so many came. */
async function watched(
  selection: Pick<WatchRequest, 'predicate' | 'labels'>,
  count: number,
  act: () => Promise<void>,
): Promise<string[]> {
  const stop = new AbortController();
  const seen: string[] = [];
  let enough = (): void => undefined;
  const done = new Promise<void>((resolve) => (enough = resolve));
  const receive = (events: readonly WatchEvent[]): boolean => {
    for (const event of events) {
      if (event.type === 'BOOKMARK') continue;
      const { apiVersion, metadata } = event.object.object();
      assert.equal(Number(metadata.resourceVersion), event.object.revision);
      seen.push(`${event.type} ${metadata.name ?? ''} ${apiVersion ?? ''}`);
    }
    if (seen.length >= count) enough();
    return true;
  };
  const watch = await asV2.watch(
    {
      namespace: '',
      resourceVersion: '',
      resourceVersionMatch: '',
      allowBookmarks: false,
      ...selection,
      signal: stop.signal,
    },
    receive,
  );
  await act();
  const error = await Promise.race([done, watch.ended]);
  stop.abort();
  if (error !== undefined) seen.push(error.message);
  return seen;
}

test('a watch sends every change in its version, in order', async () => {
  await base.create('ns/a', thing(V1, 'a'));
  const events = await watched({}, 4, async () => {
    const b = await base.create('ns/b', thing(V2, 'b'));
    const changed = await base.update('ns/b', b.revision, thing(V1, 'b'));
    await base.delete('ns/b', changed.revision);
  });
  assert.deepEqual(events, [`ADDED a ${V2}`, `ADDED b ${V2}`, `MODIFIED b ${V2}`, `DELETED b ${V2}`]);
});

test('objects come into a selection and leave it by what is seen', async () => {
  const events = await watched({ predicate: isMarked }, 3, async () => {
    const plain = await base.create('ns/a', thing(V1, 'a'));
    const marked = await base.update('ns/a', plain.revision, thing(V1, 'a', { marked: 'yes' }));
    const still = await base.update('ns/a', marked.revision, thing(V1, 'a', { marked: 'yes', more: 'x' }));
    await base.update('ns/a', still.revision, thing(V1, 'a'));
  });
  assert.deepEqual(events, [`ADDED a ${V2}`, `MODIFIED a ${V2}`, `DELETED a ${V2}`]);
});

test('what a watch begins with is selected by what is seen', async () => {
  await base.create('ns/a', thing(V1, 'a'));
  assert.deepEqual(await watched(FROM_V1, 1, () => Promise.resolve()), [`ADDED a ${V2}`]);
});

test('a watch ends with the reason an object could not be converted', async () => {
  const events = await watched({}, 1, async () => {
    failure = 'no conversion today';
    await base.create('ns/a', thing(V1, 'a'));
  });
  assert.deepEqual(events, ['no conversion today']);
});

test('a list or watch in a version that cannot be converted into is refused with a retry delay that grows', async () => {
  await base.create('ns/a', thing(V1, 'a'));
  failure = 'no conversion today';
  const unready = (retryAfterSeconds: number) => (error: unknown) => {
    assert.ok(error instanceof StorageError);
    const message = `storage is (re)initializing: failed to list ${V2}, Kind=Thing: no conversion today`;
    assert.deepEqual(
      [error.code, error.message, error.details.retryAfterSeconds],
      ['initializing', message, retryAfterSeconds],
    );
    return true;
  };
  const none = { predicate: isMarked };
  await assert.rejects(asV2.list(EVERYTHING), unready(1));
  await assert.rejects(asV2.list({ ...EVERYTHING, ...none, limit: 5 }), unready(1));
  nowMs += 60_000;
  await assert.rejects(asV2.list(EVERYTHING), unready(30));
  await assert.rejects(asV2.ready(), unready(30));
  failure = undefined;
  await asV2.ready();
  failure = 'no conversion today';
  await base.create('ns/b', thing(V1, 'b'));
  await assert.rejects(asV2.list(EVERYTHING), unready(1));
});

test('without a watch cache a list that cannot be converted fails with the reason', async () => {
  base.close();
  base = createResourceStore({ kv: openMemoryStore(), options, cache: false });
  asV2 = view(V2);
  await base.create('ns/a', thing(V1, 'a'));
  failure = 'no conversion today';
  await assert.rejects(asV2.list(EVERYTHING), { code: 'conversion', message: failure });
  await asV2.ready();
});
