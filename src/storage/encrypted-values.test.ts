import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ValueTransformer } from '../encryption/transformer.js';
import { ManualClock } from '../lib/testing/manual-clock.js';
import type { KubeObject } from '../machinery/object.js';
import { openMemoryStore } from '../kv/memory.js';
import { createResourceStore, type ResourceStoreSetup } from './create-store.js';
import type { ListRequest, ManagedResourceStore, ResourceStoreOptions } from './store.js';
import { StorageError } from './store.js';
import { STORED_OTHERWISE } from './testing.js';

const options: ResourceStoreOptions = {
  ...STORED_OTHERWISE,
  resource: { group: '', resource: 'secrets' },
  prefix: '/registry/secrets/',
  typeName: '*core.Secret',
};
const secret = (name: string, word = 'swordfish'): KubeObject =>
  ({
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name, namespace: 'a', uid: `uid-${name}`, creationTimestamp: '2024-01-01T00:00:00Z' },
    data: { word },
  }) as KubeObject;
const everything: ListRequest = {
  namespace: '',
  resourceVersion: '',
  resourceVersionMatch: '',
  limit: 0,
  continue: '',
};

/** Encrypts by reversing the bytes; a value under a key name other than `known` cannot be decrypted. */
function turning(known: string[], delayed = false): ValueTransformer & { opened: number } {
  const turn = (bytes: Buffer): Buffer => Buffer.from(bytes).reverse();
  const fromStorage = (value: Buffer) => {
    const text = value.toString('latin1');
    const name = text.slice(0, text.indexOf(':'));
    if (!known.includes(name)) throw new Error(`no key ${name}`);
    return { plain: turn(value.subarray(name.length + 1)), stale: name !== known[0] };
  };
  return {
    opened: 0,
    toStorage: (plain) => Buffer.concat([Buffer.from(`${known[0]}:`), turn(plain)]),
    fromStorage(value) {
      this.opened++;
      return delayed
        ? new Promise((resolve) => setImmediate(resolve)).then(() => fromStorage(value))
        : fromStorage(value);
    },
  };
}
const encryptedBy = (key: string, object: KubeObject, form: 'json' | 'storage' = 'json'): Buffer =>
  Buffer.concat([
    Buffer.from(`${key}:`),
    Buffer.from(form === 'json' ? options.codec.encodeJson(object) : options.codec.encodeStorage(object, '')).reverse(),
  ]);
const keys = async (store: ManagedResourceStore, request: Partial<ListRequest> = {}): Promise<string[]> =>
  (await store.list({ ...everything, ...request })).items.map(({ key }) => key);
const code = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'done';
  } catch (error) {
    assert.ok(error instanceof StorageError);
    return `${error.code}: ${error.message}`;
  }
};

const setups: [string, Partial<ResourceStoreSetup>, boolean][] = [
  ['cached', {}, false],
  ['cached, decrypted asynchronously', {}, true],
  ['cached, storage form', { form: { kind: 'storage', mediaType: 'x' } }, false],
  ['direct', { cache: false }, false],
];
for (const [name, setup, delayed] of setups) {
  describe(`an encrypted resource, ${name}`, () => {
    const form = setup.form === undefined ? 'json' : 'storage';
    const open = (kv = openMemoryStore(), transformer: ValueTransformer = turning(['one'], delayed), more = {}) =>
      createResourceStore({ kv, options, ...setup, transformer, ...more });

    it('keeps only encrypted values in the store, and answers what was written', async () => {
      const kv = openMemoryStore();
      const store = open(kv);
      const made = await store.create('a/x', secret('x'));
      await store.update('a/x', made.revision, secret('x', 'herring'));
      const { kvs } = await kv.range({ start: '/', end: '0' });
      assert.equal(kvs.length, 1);
      for (const { value } of kvs) assert.ok(!value.includes('herring') && value.toString().startsWith('one:'));
      const again = open(kv);
      assert.deepEqual((await again.get('a/x', ''))?.object(), {
        ...secret('x', 'herring'),
        metadata: { ...secret('x').metadata, resourceVersion: '3' },
      });
      assert.deepEqual(await keys(again), ['a/x']);
      store.close();
      again.close();
    });

    it('reports a value as stale whose stored form is not the current one', async () => {
      const kv = openMemoryStore();
      const store = open(kv);
      const { revision } = await store.create('a/x', secret('x'));
      assert.equal(await store.isStale('a/x', revision, true), false);
      const padded = Buffer.concat([options.codec.encodeStorage(secret('other'), ''), Buffer.from(' ')]);
      await kv.create('/registry/secrets/a/other', Buffer.concat([Buffer.from('one:'), padded.reverse()]));
      if (form === 'storage') assert.equal(await store.isStale('a/other', revision + 1, true), true);
      store.close();
    });

    it('reports a value as stale that is not encrypted with the current key', async () => {
      const kv = openMemoryStore();
      await kv.create('/registry/secrets/a/old', encryptedBy('one', secret('old'), form));
      const store = open(kv, turning(['two', 'one'], delayed));
      assert.equal(await store.isStale('a/old', 2, true), true);
      await store.update('a/old', 2, secret('old'));
      assert.equal(await store.isStale('a/old', 3, true), false);
      assert.match(await code(Promise.resolve(store.isStale('a/old', 2, true))), /^conflict/);
      assert.match(await code(Promise.resolve(store.isStale('a/none', 2, true))), /^not-found/);
      store.close();
    });

    it('fails a write that cannot be encrypted, and nothing else', async () => {
      const kv = openMemoryStore();
      const broken: ValueTransformer = { ...turning(['one']), toStorage: () => Promise.reject(new Error('away')) };
      const store = open(kv, broken);
      assert.equal(await code(store.create('a/x', secret('x'))), 'encryption-failed: away');
      assert.equal((await kv.range({ start: '/', end: '0' })).count, 0);
      store.close();
    });

    it('names what cannot be decrypted, serves the rest, and goes on when it is repaired', async () => {
      const kv = openMemoryStore();
      const clock = new ManualClock();
      const store = open(kv, turning(['one'], delayed), { clock });
      await store.create('a/x', secret('x'));
      await kv.create('/registry/secrets/a/lost', encryptedBy('gone', secret('lost'), form));
      assert.equal(await code(store.get('a/lost', '')), 'corrupt: no key gone');
      const listed = 'corrupt: unable to transform key "/registry/secrets/a/lost": no key gone';
      assert.equal(await code(store.list(everything)), listed);
      assert.equal((await store.get('a/x', ''))?.key, 'a/x');
      assert.match(await code(store.create('a/lost', secret('lost'))), /^key-exists/);
      await store.create('b/y', secret('y'));
      assert.deepEqual(await keys(store, { namespace: 'b' }), ['b/y']);
      assert.equal(await store.count(), 3);
      const lost = await kv.get('/registry/secrets/a/lost');
      await kv.update('/registry/secrets/a/lost', lost?.modRevision ?? 0, encryptedBy('one', secret('lost'), form));
      assert.deepEqual(await keys(store), ['a/lost', 'a/x', 'b/y']);
      await clock.move(10_000);
      await clock.move(10_000);
      assert.deepEqual(await keys(store, { resourceVersion: '0' }), ['a/lost', 'a/x', 'b/y']);
      store.close();
    });
  });
}

describe('a cache with something it cannot open', () => {
  it('keeps what was there before for half a minute, and lets its watchers relist', async () => {
    const kv = openMemoryStore();
    const clock = new ManualClock();
    const transformer = turning(['one']);
    const store = createResourceStore({ kv, options, transformer, clock });
    await store.create('a/x', secret('x'));
    const watch = await store.watch(
      {
        namespace: '',
        resourceVersion: '2',
        resourceVersionMatch: '',
        allowBookmarks: false,
        signal: new AbortController().signal,
      },
      () => true,
    );
    await kv.create('/registry/secrets/a/lost', encryptedBy('gone', secret('lost')));
    await store.create('a/y', secret('y'));
    assert.deepEqual(await keys(store, { resourceVersion: '0' }), ['a/x']);
    const before = transformer.opened;
    await clock.move(29_000);
    assert.deepEqual(await keys(store, { resourceVersion: '0' }), ['a/x']);
    await clock.move(1_000);
    assert.equal(await watch.ended, undefined);
    const why = 'failed to list *core.Secret: unable to transform key "/registry/secrets/a/lost": no key gone';
    const atAny = { ...everything, resourceVersion: '0' };
    assert.equal(await code(store.list(atAny)), `initializing: storage is (re)initializing: ${why}`);
    assert.equal((await store.get('a/x', '0'))?.key, 'a/x');
    assert.equal(await code(store.get('a/lost', '0')), 'corrupt: no key gone');
    await clock.move(30_000);
    assert.ok(transformer.opened - before < 30, 'only the one object is tried again');
    await kv.delete('/registry/secrets/a/lost', 3);
    await clock.move(10_000);
    assert.deepEqual(await keys(store, { resourceVersion: '0' }), ['a/x', 'a/y']);
    store.close();
  });

  it('decrypts cached values again on reads of a remote store after the keys changed', async () => {
    const kv = Object.assign(openMemoryStore(), { local: false });
    const known = ['one'];
    const transformer = Object.assign(turning(known), { changed: false });
    const store = createResourceStore({ kv, options, transformer });
    await store.create('a/x', secret('x'));
    assert.deepEqual(await keys(store), ['a/x']);
    known[0] = 'two';
    assert.equal((await store.get('a/x', ''))?.key, 'a/x');
    transformer.changed = true;
    assert.equal(await code(store.get('a/x', '')), 'corrupt: no key one');
    assert.equal((await store.get('a/x', '0'))?.key, 'a/x');
    store.close();
  });

  for (const local of [true, false]) {
    const where = local ? 'here' : 'elsewhere';
    it(`decrypts an object of a store ${where} for each read of its newest version where no key may be kept`, async () => {
      const kv = Object.assign(openMemoryStore(), { local });
      const transformer = Object.assign(turning(['one']), { decryptsEachRead: true });
      const store = createResourceStore({ kv, options, transformer });
      await store.create('a/x', secret('x'));
      assert.deepEqual(await keys(store), ['a/x']);
      transformer.opened = 0;
      assert.equal(store.local?.getCached('a/x'), undefined);
      for (const _ of [1, 2]) assert.equal((await store.get('a/x', ''))?.key, 'a/x');
      assert.equal(transformer.opened, 2);
      await store.get('a/x', '0');
      await keys(store);
      assert.equal(transformer.opened, 2);
      store.close();
    });
  }

  it('says that it is not filled yet, and later and later when to come again', async () => {
    const kv = openMemoryStore();
    const clock = new ManualClock();
    await kv.create('/registry/secrets/a/lost', encryptedBy('gone', secret('lost')));
    await kv.create('/registry/secrets/a/x', encryptedBy('one', secret('x')));
    const store = createResourceStore({ kv, options, transformer: turning(['one']), clock });
    const why = 'failed to list *core.Secret: unable to transform key "/registry/secrets/a/lost": no key gone';
    assert.equal(await code(store.list(everything)), `initializing: storage is (re)initializing: ${why}`);
    const retry = async (): Promise<number | undefined> =>
      store.list(everything).then(
        () => undefined,
        (error: unknown) => (error as StorageError).details.retryAfterSeconds,
      );
    assert.equal(await retry(), 1);
    await clock.move(40_000);
    assert.equal(await retry(), 11);
    assert.equal((await store.get('a/x', ''))?.key, 'a/x');
    assert.deepEqual(await keys(store, { limit: 5, namespace: 'b' }), []);
    await store.create('a/y', secret('y'));
    assert.equal(await store.deleteUnreadable('a/lost', true), true);
    assert.notEqual(await kv.get('/registry/secrets/a/lost'), undefined);
    assert.equal(await store.deleteUnreadable('a/lost', false), true);
    await clock.move(10_000);
    assert.deepEqual(await keys(store), ['a/x', 'a/y']);
    store.close();
  });

  it('names all of them where they may be deleted unseen', async () => {
    const kv = openMemoryStore();
    for (const name of ['l1', 'l2']) await kv.create(`/registry/secrets/a/${name}`, encryptedBy('gone', secret(name)));
    await kv.create('/registry/secrets/a/r', encryptedBy('one', secret('r')).subarray(0, 20));
    const unsafe = { ...options, unsafeDeletion: { root: '/registry' } };
    const store = createResourceStore({ kv, options: unsafe, transformer: turning(['one']), cache: false });
    const corrupt = (key: string, why: string) =>
      `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
    const encrypted = 'data from the storage is not transformable revision=0: no key gone';
    assert.equal(await code(store.get('a/l1', '')), `corrupt: ${corrupt('/secrets/a/l1', encrypted)}`);
    await assert.rejects(store.list(everything), ({ code: kind, details }: StorageError) => {
      assert.equal(kind, 'unreadable-list');
      assert.deepEqual(
        details.unreadable?.map(({ field }) => field),
        ['/registry/secrets/a/l1', '/registry/secrets/a/l2', '/registry/secrets/a/r'],
      );
      assert.equal(details.unreadable?.[0]?.message, corrupt('/registry/secrets/a/l1', encrypted));
      assert.match(details.unreadable?.[2]?.message ?? '', /object not decodable revision=4: /);
      return true;
    });
    store.close();
  });

  it('refuses encrypted values where nothing is configured', async () => {
    const kv = openMemoryStore();
    await kv.create('/registry/secrets/a/x', Buffer.from('k8s:enc:aescbc:v1:k:abc'));
    const store = createResourceStore({ kv, options });
    assert.equal(await code(store.get('a/x', '')), 'corrupt: identity transformer tried to read encrypted data');
    store.close();
  });

  it('looks into JSON that nothing vouches for', async () => {
    const kv = openMemoryStore();
    const rubbish = Buffer.from('{"metadata":{"name":"x","uid":"u"},"data":?}');
    await kv.create('/registry/secrets/a/x', rubbish);
    const transformer: ValueTransformer = {
      toStorage: (plain) => plain,
      fromStorage: (plain) => ({ plain, stale: false, unproven: true }),
    };
    const store = createResourceStore({ kv, options, transformer });
    assert.match(await code(store.get('a/x', '')), /^corrupt: /);
    store.close();
  });
});

it('yields to the event loop while many values are decrypted', async () => {
  const kv = openMemoryStore();
  for (let i = 0; i < 1000; i++) await kv.create(`/registry/secrets/a/${i}`, encryptedBy('one', secret(`${i}`)));
  const quick = turning(['one']);
  let sinceTurn = 0;
  let longest = 0;
  const transformer: ValueTransformer = {
    toStorage: (plain, key) => quick.toStorage(plain, key),
    fromStorage(value, key) {
      const began = performance.now();
      while (performance.now() - began < 0.2);
      longest = Math.max(longest, ++sinceTurn);
      return quick.fromStorage(value, key);
    },
  };
  const store = createResourceStore({ kv, options, transformer });
  const turn = (): void => {
    sinceTurn = 0;
    if (store.local?.amount === undefined) setImmediate(turn);
  };
  turn();
  await store.ready();
  // A time slice of five milliseconds is 25 values, and it is checked after each 32.
  assert.ok(longest <= 100, `${longest} values in one turn`);
  assert.equal((await keys(store)).length, 1000);
  store.close();
});
