// Objects whose bytes the disk returns otherwise than they were written.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { openEmbeddedStore } from '../kv/embedded/embedded.js';
import type { KeyValueStore } from '../kv/kv.js';
import type { KubeObject } from '../machinery/object.js';
import { createResourceStore } from './create-store.js';
import { Recent } from './recent.js';
import { type ListRequest, type ManagedResourceStore, type ResourceStoreOptions, StorageError } from './store.js';
import { PODS } from './testing.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-damaged-values-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));

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
const pod = (name: string): KubeObject =>
  ({ kind: 'Pod', apiVersion: 'v1', metadata: { name, namespace: 'a', uid: `uid-of-${name}` } }) as KubeObject;

/** Changes every copy of this text in the file. */
function changeInFile(folder: string, text: string): void {
  const file = path.join(folder, 'store.mdb');
  const bytes = fs.readFileSync(file);
  let count = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    count++;
  }
  assert.ok(count > 0, `${text} is in the file`);
  fs.writeFileSync(file, bytes);
}

const storeOf = (kv: KeyValueStore, more: Partial<ResourceStoreOptions> = {}, cache = true): ManagedResourceStore =>
  createResourceStore({ kv, options: { ...options, ...more }, cache, recent: new Recent(0, 0) });

async function damaged(name: string): Promise<KeyValueStore> {
  const folder = path.join(root, name);
  const kv = await openEmbeddedStore({ folder });
  const store = storeOf(kv);
  for (const pod_ of ['good', 'bad', 'worse']) await store.create(`a/${pod_}`, pod(pod_));
  store.close();
  await kv.close();
  for (const text of ['uid-of-bad', 'uid-of-worse']) changeInFile(folder, text);
  return openEmbeddedStore({ folder });
}

const MISMATCH = /the checksum of the value stored for \/registry\/pods\/a\/bad at revision 3 does not match/;

describe('a damaged object', () => {
  it('is refused by name, alone and in a list, and the others are served', async () => {
    const kv = await damaged('direct');
    const store = storeOf(kv, {}, false);
    assert.equal((await store.get('a/good', ''))?.object().metadata.name, 'good');
    for (const read of [store.get('a/bad', ''), store.list(everything), store.delete('a/bad', 3)]) {
      await assert.rejects(read, (error: unknown) => {
        assert.ok(error instanceof StorageError);
        assert.match(error.message, MISMATCH);
        assert.equal(error.details.fault?.key, 'a/bad');
        return error.code === 'corrupt';
      });
    }
    await kv.close();
  });

  it('keeps the cache of its resource from being filled until it is gone', async () => {
    const kv = await damaged('cached');
    const store = storeOf(kv);
    await assert.rejects(store.list(everything), (error: unknown) => {
      assert.ok(error instanceof StorageError);
      assert.match(error.message, MISMATCH);
      return error.code === 'initializing';
    });
    for (const name of ['bad', 'worse']) assert.equal(await store.deleteUnreadable(`a/${name}`, false), true);
    assert.equal(await store.deleteUnreadable('a/good', false), false);
    const keys = (await store.list(everything)).items.map(({ key }) => key);
    assert.deepEqual(keys, ['a/good']);
    store.close();
    await kv.close();
  });

  it('is named with all others where they may be deleted unseen', async () => {
    const kv = await damaged('named');
    const store = storeOf(kv, { unsafeDeletion: { root: '/registry' } }, false);
    await assert.rejects(store.list(everything), (error: unknown) => {
      assert.ok(error instanceof StorageError && error.code === 'unreadable-list');
      const fields = error.details.unreadable?.map(({ field }) => field);
      assert.deepEqual(fields, ['/registry/pods/a/bad', '/registry/pods/a/worse']);
      return true;
    });
    await kv.close();
  });

  it('that is damaged while the server runs is not served from the file', async () => {
    const folder = path.join(root, 'running');
    const kv = await openEmbeddedStore({ folder });
    const store = storeOf(kv);
    await store.create('a/bad', pod('bad'));
    const entry = await store.get('a/bad', '');
    // The bytes are in memory until all watches have the event.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    changeInPlace(path.join(folder, 'store.mdb'), 'uid-of-bad');
    assert.throws(() => entry?.json, /the checksum of the value stored for \/registry\/pods\/a\/bad/);
    const target = Buffer.alloc(1000);
    assert.throws(() => entry?.copyJson?.(target, 0, 0, false), /the checksum of the value stored/);
    store.close();
    await kv.close();
  });
});

/** The engine has mapped the file, and sees what is written to it. */
function changeInPlace(file: string, text: string): void {
  const bytes = fs.readFileSync(file);
  const fd = fs.openSync(file, 'r+');
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    fs.writeSync(fd, Buffer.from([(bytes[at] ?? 0) ^ 1]), 0, 1, at);
  }
  fs.closeSync(fd);
}
