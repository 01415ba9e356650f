// runs-on: every-node
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { type Database, open } from 'lmdb';
import { collect } from '../kv.contract.js';
import { KvError, prefixEnd } from '../kv.js';
import { openEmbeddedStore } from './embedded.js';
import { encodeNumbers } from './records.js';
import { uncheckedLog, uncheckedVersion } from './unchecked-records.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-compression-'));
let folders = 0;
const newFolder = (): string => {
  const folder = path.join(root, String(++folders));
  fs.mkdirSync(folder);
  return folder;
};
after(() => fs.rmSync(root, { recursive: true, force: true }));

const isDamaged = (error: unknown): boolean => error instanceof KvError && error.code === 'damaged';
const formatOf = (folder: string): string => fs.readFileSync(path.join(folder, 'FORMAT'), 'utf8');

/** The file as the engine has it. */
async function inside(
  folder: string,
  look: (table: (name: string, dictionary?: Buffer) => Database<Buffer, Buffer>) => void,
): Promise<void> {
  const env = open({ path: path.join(folder, 'store.mdb'), noSubdir: true, maxDbs: 8, overlappingSync: false });
  look((name, dictionary) =>
    env.openDB<Buffer, Buffer>(name, {
      encoding: 'binary',
      keyEncoding: 'binary',
      compression: dictionary !== undefined && { threshold: 256, dictionary },
    }),
  );
  await env.close();
}

const pod = (name: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name, namespace: 'shop', uid: '5f0e8c1e-8a52-4c4c-9a3b-2f1c5f4f7a10', labels: { app: 'checkout' } },
      spec: {
        containers: [
          {
            name: 'checkout',
            image: 'images.test/checkout:3',
            resources: { requests: { cpu: '250m', memory: '512Mi' } },
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            imagePullPolicy: 'IfNotPresent',
          },
        ],
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        schedulerName: 'default-scheduler',
        enableServiceLinks: true,
        preemptionPolicy: 'PreemptLowerPriority',
      },
      status: { phase: 'Pending', qosClass: 'Burstable' },
    }),
  );

describe('values in the file of the embedded store', () => {
  it('read back as they were written, of any size and whatever they begin with', async () => {
    const kv = await openEmbeddedStore({ folder: newFolder() });
    const values = [1, 237, 238, 256, 1000, 4000, 33_000, 70_000, 3_000_000].flatMap((size) => [
      Buffer.alloc(size, 'x'),
      randomBytes(size),
      Buffer.alloc(size, 0xff),
      Buffer.concat([Buffer.from([254]), randomBytes(size)]),
    ]);
    const keys = values.map((_, index) => `/v/${String(index).padStart(3, '0')}`);
    // Together, by the engine's threads, and each alone, in place.
    const created = await Promise.all(values.map((value, index) => kv.create(keys[index] ?? '', value)));
    for (const [index, value] of [...values].reverse().entries()) {
      await kv.update(keys[index] ?? '', created[index]?.revision ?? 0, value);
    }
    const now = await kv.range({ start: '/v/', end: prefixEnd('/v/') });
    const past = await kv.range({ start: '/v/', end: prefixEnd('/v/'), revision: created.at(-1)?.revision ?? 0 });
    const replaced = await collect(kv, {
      prefix: '/v/',
      startRevision: (created.at(-1)?.revision ?? 0) + 1,
      previous: true,
    }).take(values.length);
    for (const [index, value] of values.entries()) {
      const newer = values[values.length - 1 - index] ?? value;
      const { value: read, modRevision } = now.kvs[index] ?? { value: Buffer.alloc(0), modRevision: 0 };
      assert.ok(read.equals(newer), `${index} in a range`);
      assert.ok(kv.currentValue?.(keys[index] ?? '', modRevision)?.equals(newer), `${index} alone`);
      assert.ok(past.kvs[index]?.value.equals(value), `${index} before`);
      assert.ok(replaced[index]?.previous?.value.equals(value), `${index} in its event`);
    }
    await kv.close();
  });

  it('take less room than their JSON, with those that they replaced', async () => {
    const kv = await openEmbeddedStore({ folder: newFolder() });
    const names = Array.from({ length: 2000 }, (_, index) => `checkout-${String(index).padStart(5, '0')}`);
    const created = await Promise.all(names.map((name) => kv.create(`/pods/${name}`, pod(name))));
    const afterCreating = await kv.sizeBytes();
    await Promise.all(
      names.map((name, index) => kv.update(`/pods/${name}`, created[index]?.revision ?? 0, pod(`${name}-b`))),
    );
    const jsonBytes = names.length * pod(names[0] ?? '').length;
    assert.ok(afterCreating < jsonBytes * 0.6, `${afterCreating} of ${jsonBytes}`);
    assert.ok((await kv.sizeBytes()) < jsonBytes * 1.5, `${await kv.sizeBytes()} of twice ${jsonBytes}`);
    await kv.close();
  });

  it('that an earlier build wrote are read, and its folder is then marked so that it refuses it', async () => {
    const folder = newFolder();
    const version = { modRevision: 3, createRevision: 2, expiresAtMs: 0, value: pod('new') };
    const previous = { ...version, modRevision: 2, value: pod('old') };
    await inside(folder, (table) => {
      const key = Buffer.from('/pods/a');
      table('meta').putSync(Buffer.from('revision'), encodeNumbers(3));
      table('current').putSync(key, uncheckedVersion(version));
      const change = { type: 'put', atMs: Date.now() } as const;
      table('log').putSync(encodeNumbers(2), uncheckedLog(key, { ...change, createRevision: 2, previous: undefined }));
      table('log').putSync(encodeNumbers(3), uncheckedLog(key, { ...change, createRevision: 2, previous }));
    });
    fs.writeFileSync(path.join(folder, 'FORMAT'), 'binnacle-store 1\n');
    for (const restart of [0, 1]) {
      const kv = await openEmbeddedStore({ folder });
      assert.deepEqual((await kv.get('/pods/a'))?.value, version.value);
      assert.deepEqual((await kv.get('/pods/a', { revision: 2 }))?.value, previous.value);
      await kv.create(`/pods/${restart}`, pod('more'));
      assert.deepEqual((await kv.get(`/pods/${restart}`))?.value, pod('more'));
      await kv.close();
      assert.equal(formatOf(folder), 'binnacle-store 4\n');
    }
  });

  it('are compressed with the dictionary the folder was made with', async () => {
    const folder = newFolder();
    const dictionary = Buffer.from('words of another build'.repeat(20));
    const hash = createHash('sha256').update(dictionary).digest();
    await inside(folder, (table) =>
      table('meta').putSync(Buffer.from('dictionary'), Buffer.concat([hash, dictionary])),
    );
    fs.writeFileSync(path.join(folder, 'FORMAT'), 'binnacle-store 2\n');
    const kv = await openEmbeddedStore({ folder });
    const value = Buffer.from(`${'words of another build'.repeat(20)} and more`);
    await kv.create('/a', value);
    await kv.close();
    await inside(folder, (table) => {
      const read = table('current', dictionary).get(Buffer.from('/a'));
      assert.deepEqual(read && Buffer.from(read.subarray(22)), value);
    });
  });

  it('cannot be read without their dictionary, and are not touched then', async () => {
    const folder = newFolder();
    const kv = await openEmbeddedStore({ folder });
    await kv.create('/a', pod('a'));
    await kv.close();
    let kept = Buffer.alloc(0);
    await inside(folder, (table) => {
      kept = Buffer.from(table('meta').get(Buffer.from('dictionary')) ?? '');
      const changed = Buffer.from(kept);
      changed[changed.length - 1] = 0;
      table('meta').putSync(Buffer.from('dictionary'), changed);
    });
    await assert.rejects(openEmbeddedStore({ folder }), isDamaged);
    await inside(folder, (table) => table('meta').removeSync(Buffer.from('dictionary')));
    await assert.rejects(openEmbeddedStore({ folder }), isDamaged);
    await inside(folder, (table) => table('meta').putSync(Buffer.from('dictionary'), kept));
    const again = await openEmbeddedStore({ folder });
    assert.deepEqual((await again.get('/a'))?.value, pod('a'));
    await again.close();
  });
});
