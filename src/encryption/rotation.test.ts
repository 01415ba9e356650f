import { silentLog } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { describe, it } from 'node:test';
import { openMemoryStore } from '../kv/memory.js';
import { systemClock } from '../lib/async/clock.js';
import type { ProviderSettings } from './configuration.js';
import { EncryptionAtRest } from './encryption-at-rest.js';
import { openProviders } from './providers.js';
import { Rotation } from './rotation.js';
import { countingMetrics } from './testing.js';
import { pollUntil } from '../lib/testing/poll-until.js';

const RESOURCE = { group: '', resource: 'secrets' };
const PREFIX = '/registry/secrets/';
const gcm = (...keys: [name: string, secret: string][]): ProviderSettings => ({
  kind: 'aesgcm',
  keys: keys.map(([name, secret]) => ({ name, secret: Buffer.alloc(32, secret) })),
});
const identity: ProviderSettings = { kind: 'identity' };

async function at(...providers: ProviderSettings[]): Promise<EncryptionAtRest> {
  const parts = {
    connect: () => Promise.reject(new Error('none')),
    clock: systemClock,
    random: crypto.randomBytes,
    newUid: () => 'uid',
    metrics: countingMetrics(),
    log: silentLog,
  };
  const settings = { hash: 'sha256:0', entries: [{ resources: ['secrets'], providers }] };
  return new EncryptionAtRest(await openProviders(settings, parts), false);
}

class Shelf {
  readonly kv = openMemoryStore();

  async put(name: string, ...providers: ProviderSettings[]): Promise<void> {
    const transformer = (await at(...providers)).transformerOf(RESOURCE);
    const value = await transformer?.toStorage(Buffer.from(`{"name":"${name}"}`), PREFIX + name);
    await this.kv.create(PREFIX + name, value ?? Buffer.alloc(0));
  }

  async rotation(...providers: ProviderSettings[]): Promise<Rotation> {
    const encryption = await at(...providers);
    const rotation = new Rotation(encryption, {
      clock: systemClock,
      signal: new AbortController().signal,
      log: silentLog,
    });
    const transformer = encryption.transformerOf(RESOURCE);
    assert.ok(transformer !== undefined);
    rotation.add({ resource: RESOURCE, prefix: PREFIX, kv: this.kv, transformer });
    return rotation;
  }

  async read(name: string, ...providers: ProviderSettings[]): Promise<string> {
    const stored = await this.kv.get(PREFIX + name);
    const transformer = (await at(...providers)).transformerOf(RESOURCE);
    return String((await transformer?.fromStorage(stored?.value ?? Buffer.alloc(0), PREFIX + name))?.plain);
  }
}

/** Rewrites all; polls, since the clock's timers do not keep the process alive. */
async function rewrite(rotation: Rotation): Promise<void> {
  rotation.begin(10_000);
  await pollUntil(() => rotation.progress.state !== 'running');
}

describe('rotation', () => {
  const one: [string, string] = ['one', 'a'];
  const two: [string, string] = ['two', 'b'];

  it('counts by key, those that write nothing any more and those nobody knows too', async () => {
    const shelf = new Shelf();
    await shelf.put('a', gcm(one));
    await shelf.put('b', gcm(one));
    await shelf.put('c', identity);
    await shelf.kv.create(`${PREFIX}d`, Buffer.from('k8s:enc:aescbc:v1:gone:\x00\x01'));
    const rotation = await shelf.rotation(gcm(two, one), identity);
    const [use] = await rotation.use();
    assert.equal(use?.resource, 'secrets');
    assert.deepEqual(
      use?.keys.map(({ provider, objects, writes, known }) => [provider, objects, writes, known]),
      [
        ['aesgcm:v1:two', 0, true, true],
        ['aesgcm:v1:one', 2, false, true],
        ['identity', 1, false, true],
        ['aescbc:v1:gone', 1, false, false],
      ],
    );
  });

  it('moves everything to the first key, names what it cannot, and leaves the content alone', async () => {
    const shelf = new Shelf();
    await shelf.put('a', gcm(one));
    await shelf.put('b', gcm(two));
    await shelf.put('c', identity);
    await shelf.kv.create(`${PREFIX}d`, Buffer.from('k8s:enc:aescbc:v1:gone:\x00\x01'));
    const rotation = await shelf.rotation(gcm(two, one), identity);
    await rewrite(rotation);
    const { state, looked, rewritten, failed, failures } = rotation.progress;
    assert.deepEqual([state, looked, rewritten, failed], ['done', 4, 2, 1]);
    assert.deepEqual(failures, [{ key: `${PREFIX}d`, message: 'no matching prefix found' }]);
    for (const name of ['a', 'b', 'c']) assert.equal(await shelf.read(name, gcm(two)), `{"name":"${name}"}`);
    assert.equal((await shelf.kv.get(`${PREFIX}b`))?.modRevision, 3, 'what is under the first key is not written');
    await rewrite(rotation);
    assert.deepEqual([rotation.progress.rewritten, rotation.progress.failed], [0, 1]);
  });

  it('says of a key whether it may go, and what stands in the way', async () => {
    const shelf = new Shelf();
    await shelf.put('a', gcm(one));
    const rotation = await shelf.rotation(gcm(two, one), identity);
    assert.deepEqual(await rotation.mayRemove('aesgcm:v1:one', undefined), {
      mayRemove: false,
      because: '1 object is encrypted with it',
      objects: 1,
      inTheWay: [`${PREFIX}a`],
    });
    const about = async (provider: string): Promise<[boolean, string]> => {
      const { mayRemove, because } = await rotation.mayRemove(provider, undefined);
      return [mayRemove, because];
    };
    assert.deepEqual(await about('aesgcm:v1:two'), [false, 'it is what values are encrypted with now']);
    assert.deepEqual(await about('identity'), [true, 'no stored object is encrypted with it']);
    assert.match((await about('aesgcm:v1:none'))[1], /^the configuration does not have it/);
    await rewrite(rotation);
    assert.deepEqual(await about('aesgcm:v1:one'), [true, 'no stored object is encrypted with it']);
  });

  it('distinguishes keys of the same name by what they decrypt', async () => {
    const shelf = new Shelf();
    await shelf.put('old', gcm(['same', 'a']));
    await shelf.put('new', gcm(['same', 'b']));
    const rotation = await shelf.rotation(gcm(['same', 'b']), gcm(['same', 'a']));
    await rewrite(rotation);
    assert.equal(rotation.progress.rewritten, 1);
    assert.equal(await shelf.read('old', gcm(['same', 'b'])), '{"name":"old"}');
  });
});
