import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import { openEmbeddedStore } from '../kv/embedded/embedded.js';
import type { KeyValueStore } from '../kv/kv.js';
import { openMemoryStore } from '../kv/memory.js';
import { createResourceStore } from './create-store.js';
import { EncodedBytes } from './encoded-bytes.js';
import { Recent } from './recent.js';
import {
  hasMetadata,
  type ListRequest,
  type ManagedResourceStore,
  type ResourceStoreOptions,
  type StoredObject,
} from './store.js';
import { PODS } from './testing.js';

const options: ResourceStoreOptions = {
  ...PODS,
  codec: { ...PODS.codec, encodeStorage: () => Buffer.alloc(0), decodeStorage: () => ({ metadata: {} }) },
};

const everything: ListRequest = {
  namespace: '',
  resourceVersion: '',
  resourceVersionMatch: '',
  limit: 0,
  continue: '',
};

const pod = (name: string, color: string): KubeObject =>
  ({ kind: 'Pod', apiVersion: 'v1', metadata: { name, namespace: 'a', uid: name, labels: { color } } }) as KubeObject;

/** A store whose file is read for every look at an object. */
async function opened(context: TestContext): Promise<{ kv: KeyValueStore; open: () => ManagedResourceStore }> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'released-bytes-'));
  const kv = await openEmbeddedStore({ folder });
  context.after(async () => {
    await kv.close();
    await fs.rm(folder, { recursive: true });
  });
  return { kv, open: () => createResourceStore({ kv, options, recent: new Recent(0, 0) }) };
}

const color = (object: StoredObject | undefined): string | undefined => object?.object().metadata.labels?.['color'];
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

function copied(object: StoredObject, from: number, isKept = false): string {
  const target = Buffer.alloc(object.size);
  const length = object.copyJson?.(target, 0, from, isKept) ?? -1;
  return target.toString('utf8', 0, length);
}

test('objects are read from the store again, as they were served at first', async (context) => {
  const { open } = await opened(context);
  const store = open();
  const first = await store.create('a/x', pod('x', 'red'));
  const bytes = first.json.toString();
  await store.create('a/y', pod('y', 'red'));
  assert.equal(JSON.parse(bytes).metadata.resourceVersion, String(first.revision));
  await settled();
  for (const reader of [store, open()]) {
    const read = await reader.get('a/x', '');
    assert.equal(read?.size, bytes.length);
    assert.equal(read?.json.toString(), bytes);
    for (const from of [0, 10, bytes.length - 5]) assert.equal(copied(read, from), bytes.slice(from));
    const { json } = read;
    const other = await reader.get('a/y', '');
    assert.equal(color(other), 'red');
    assert.notEqual(read.json, json, 'kept though another was asked for since');
  }
});

test('a cache is filled without a copy of what the store has, and without reading it twice', async (context) => {
  const kv = openMemoryStore();
  const writer = createResourceStore({ kv, options });
  const written = await writer.create('a/x', pod('x', 'red'));
  await writer.create('a/y', pod('y', 'blue'));
  const store = createResourceStore({ kv, options: { ...options, indexedField: 'metadata.uid' } });
  const reads = context.mock.method(kv, 'currentValue').mock;
  const copies = context.mock.method(Buffer, 'allocUnsafeSlow').mock;
  await store.ready();
  const { items } = await store.list({ ...everything, labels: (labels) => isRed({ labels }), predicate: isRed });
  assert.deepEqual([items.length, items[0]?.size], [1, written.size]);
  assert.deepEqual([reads.callCount(), copies.callCount()], [0, 0]);
  const has = (name: string): boolean => hasMetadata(items[0] ?? written, [name]);
  assert.deepEqual([has('labels'), has('ownerReferences'), copies.callCount()], [true, false, 0]);
  assert.equal(items[0]?.json.toString(), written.json.toString());
});

const isRed = ({ labels }: Pick<StoredObject, 'labels'>): boolean => labels['color'] === 'red';

test('what a repeated list read is read from the store once, until it changes', async (context) => {
  const kv = openMemoryStore();
  const setup = { kv, options, recent: new Recent(0, 0), encoded: new EncodedBytes() };
  const store = createResourceStore(setup);
  const first = await store.create('a/x', pod('x', 'red'));
  await store.create('a/y', pod('y', 'red'));
  await settled();
  const reads = context.mock.method(kv, 'currentValue').mock;
  const listed = async (): Promise<{ texts: string[]; isRepeated: boolean; reads: number }> => {
    const before = reads.callCount();
    const { items, isRepeated = false } = await store.list(everything);
    const texts = items.map((item) => copied(item, 1, isRepeated));
    return { texts, isRepeated, reads: reads.callCount() - before };
  };
  const once = await listed();
  assert.deepEqual([once.isRepeated, once.reads], [false, 2]);
  let { revision } = first;
  const repeated: number[] = [];
  for (const text of ['green', 'blue', 'white']) {
    ({ revision } = await store.update('a/x', revision, pod('x', text)));
    await settled();
    const { texts, isRepeated, reads: count } = await listed();
    assert.ok(isRepeated);
    assert.ok(texts[0]?.includes(`"color":"${text}"`), texts[0]);
    assert.equal(texts[1], once.texts[1]);
    repeated.push(count);
  }
  assert.deepEqual(repeated, [2, 1, 1]);
});

test('what was updated is neither read nor parsed for the next update, until much else was updated', async (context) => {
  const kv = openMemoryStore();
  const codec = { ...options.codec };
  const reads = context.mock.method(kv, 'currentValue').mock;
  const parses = context.mock.method(codec, 'decodeJson').mock;
  const recent = new Recent(undefined, 4 * JSON.stringify(pod('x', 'red')).length);
  const store = createResourceStore({ kv, options: { ...options, codec }, recent });
  const readsAndParses = async (name: string): Promise<number[]> => {
    const before = [reads.callCount(), parses.callCount()];
    const object = (await store.get(`a/${name}`, '')) as StoredObject;
    const { metadata } = object.object();
    assert.deepEqual([metadata.name, metadata.resourceVersion], [name, String(object.revision)]);
    assert.ok(object.json.includes(`"resourceVersion":"${object.revision}"`));
    return [reads.callCount(), parses.callCount()].map((count, index) => count - (before[index] ?? 0));
  };
  const update = async (name: string, wanted: string): Promise<void> => {
    const current = (await store.get(`a/${name}`, '')) as StoredObject;
    await store.update(`a/${name}`, current.revision, pod(name, wanted));
    await settled();
  };
  for (const name of ['x', 'y']) await store.create(`a/${name}`, pod(name, 'red'));
  await settled();
  // Most of what is created is not updated soon.
  assert.deepEqual(await readsAndParses('y'), [1, 1]);
  for (const wanted of ['green', 'blue']) {
    await update('x', wanted);
    assert.deepEqual(await readsAndParses('x'), [0, 0]);
  }
  for (const wanted of ['green', 'blue', 'white', 'black']) await update('y', wanted);
  assert.deepEqual(await readsAndParses('y'), [0, 0]);
  assert.deepEqual(await readsAndParses('x'), [1, 1]);
});

test('encodings are kept of current objects only, and released with them', async () => {
  const encoded = new EncodedBytes();
  const store = createResourceStore({ kv: openMemoryStore(), options, recent: new Recent(0, 0), encoded });
  const form = {};
  let encodings = 0;
  const encode = (object: StoredObject | undefined): void => {
    if (object?.encoded?.(form) !== undefined) return;
    object?.keepEncoded?.(form, Buffer.alloc(1000 + encodings++));
  };
  const first = await store.create('a/x', pod('x', 'red'));
  await settled();
  const red = await store.get('a/x', '');
  for (let i = 0; i < 2; i++) encode(red);
  assert.deepEqual([encodings, encoded.heldBytes > 0], [1, true]);
  const { revision } = await store.update('a/x', first.revision, pod('x', 'green'));
  await settled();
  assert.equal(encoded.heldBytes, 0);
  const gone = await store.delete('a/x', revision);
  await settled();
  for (const object of [red, gone]) encode(object);
  assert.deepEqual([encodings, encoded.heldBytes], [3, 0]);
  await store.create('a/y', pod('y', 'red'));
  await settled();
  encode(await store.get('a/y', ''));
  assert.ok(encoded.heldBytes > 0);
  store.close();
  await settled();
  assert.equal(encoded.heldBytes, 0);
});

test('a selection by fields that are strings parses nothing', async (context) => {
  const { kv } = await opened(context);
  let parsed = 0;
  const codec = {
    ...options.codec,
    decodeJson: (bytes: Buffer): KubeObject => {
      parsed++;
      return options.codec.decodeJson(bytes);
    },
  };
  const fieldsOf = ({ status }: KubeObject & { status?: { phase?: string } }): Record<string, string> => ({
    'status.phase': status?.phase ?? '',
    'status.count': 'parsed',
  });
  const store = createResourceStore({
    kv,
    options: { ...options, codec, fieldsOf, textFields: ['status.phase'] },
    recent: new Recent(0, 0),
  });
  const phases = { x: 'Running', y: 'Failed', z: 'Running' };
  for (const [name, phase] of Object.entries(phases)) {
    await store.create(`a/${name}`, { ...pod(name, 'red'), status: { phase } } as KubeObject);
  }
  await settled();
  const count = async (field: string, value: string): Promise<number> =>
    (await store.list({ ...everything, predicate: (object) => object.field(field) === value })).items.length;
  assert.equal(await count('status.phase', 'Running'), 2);
  assert.equal(await count('status.phase', 'Failed'), 1);
  assert.equal(parsed, 0);
  assert.equal(await count('status.count', 'parsed'), 3);
  assert.equal(parsed, 3);
  assert.equal(await count('status.phase', 'Running'), 2);
  assert.equal(parsed, 3);
});

test('large objects are read as they are, one after another', async (context) => {
  const { open } = await opened(context);
  const store = open();
  const sizes = [1_000, 33_000, 70_000, 1_500_000, 300];
  for (const size of sizes) await store.create(`a/${size}`, pod(String(size), 'x'.repeat(size)));
  await settled();
  for (const size of sizes) assert.equal(color(await store.get(`a/${size}`, ''))?.length, size);
  const { items } = await store.list(everything);
  const read = items.map((item) => (JSON.parse(copied(item, 0)) as KubeObject).metadata.labels?.['color']?.length);
  assert.deepEqual(new Set(read), new Set(sizes));
});

test('a version that was replaced or deleted stays readable for those who have it', async (context) => {
  const { open } = await opened(context);
  const store = open();
  let { revision } = await store.create('a/x', pod('x', 'red'));
  await store.create('a/y', pod('y', 'red'));
  await settled();
  const red = await store.get('a/x', '');
  const page = await store.list({ ...everything, limit: 1 });
  revision = (await store.update('a/x', revision, pod('x', 'green'))).revision;
  await settled();
  const green = await store.get('a/x', '');
  const gone = await store.delete('a/x', revision);
  await settled();
  assert.deepEqual([color(red), color(green), color(gone), color(page.items[0])], ['red', 'green', 'green', 'red']);
  const past = await store.list({
    ...everything,
    resourceVersion: String(page.revision),
    resourceVersionMatch: 'Exact',
  });
  assert.deepEqual(
    past.items.map((item) => [item.key, color(item)]),
    [
      ['a/x', 'red'],
      ['a/y', 'red'],
    ],
  );
  assert.equal(past.items[0]?.json.toString().includes(`"resourceVersion":"${gone.revision}"`), false);
});

test('a version is readable while the commit that replaces it is under way', async (context) => {
  const { kv, open } = await opened(context);
  const store = open();
  const { revision } = await store.create('a/x', pod('x', 'red'));
  await store.create('a/y', pod('y', 'red'));
  await settled();
  const red = (await store.get('a/x', '')) as StoredObject;
  // Two writes share a commit, which runs on the engine's thread: until its events arrive, the file is ahead of the cache.
  const writes = Promise.all([
    store.update('a/x', revision, pod('x', 'green')),
    store.create('a/z', pod('z', 'red')),
    store.create('a/w', pod('w', 'red')),
  ]);
  let done = false;
  void writes.then(() => (done = true));
  while (!done) {
    assert.equal(JSON.parse(red.json.toString()).metadata.labels.color, 'red');
    assert.ok(kv.currentValue?.('/registry/pods/a/y', 3) !== undefined);
    await new Promise(setImmediate);
  }
  assert.equal(color(await store.get('a/x', '')), 'green');
});

test('watches that resume receive the versions that were replaced since', async (context) => {
  const { open } = await opened(context);
  const store = open();
  let { revision } = await store.create('a/x', pod('x', '0'));
  const from = String(revision);
  for (const next of ['1', '2', '3']) {
    revision = (await store.update('a/x', revision, pod('x', next))).revision;
    await settled();
  }
  const heard: (string | undefined)[] = [];
  const stop = new AbortController();
  await store.watch(
    {
      namespace: '',
      resourceVersion: from,
      resourceVersionMatch: '',
      allowBookmarks: false,
      signal: stop.signal,
      predicate: ({ labels }) => labels['color'] !== '2',
    },
    (events) => {
      for (const event of events) if (event.type !== 'BOOKMARK') heard.push(`${event.type} ${color(event.object)}`);
      return true;
    },
  );
  stop.abort();
  assert.deepEqual(heard, ['MODIFIED 1', 'DELETED 1', 'ADDED 3']);
});

test('what an object is selected by is known from what was written: by labels if it is large, by its field if it is small, too', async (context) => {
  const { kv } = await opened(context);
  // The encoded JSON lacks the field: a field value that is found comes from the written object.
  const encodeJson = ({ spec: _, ...rest }: KubeObject & { spec?: unknown }): Buffer => options.codec.encodeJson(rest);
  const given = { ...options, codec: { ...options.codec, encodeJson }, indexedField: 'spec.nodeName' };
  const store = createResourceStore({ kv, options: given, recent: new Recent(0, 0) });
  const object = { ...pod('x', 'red'), spec: { nodeName: 'given' } };
  const large = { ...object, metadata: { ...object.metadata, annotations: { a: 'x'.repeat(100_000) } } };
  for (const written of [object, large]) {
    const key = `a/${written === large ? 'large' : 'small'}`;
    const { labels } = await store.create(key, written);
    assert.equal(labels === written.metadata.labels, written === large);
    assert.deepEqual(labels, { color: 'red' });
    assert.equal((await store.get(key, ''))?.field('spec.nodeName'), 'given');
  }
});
