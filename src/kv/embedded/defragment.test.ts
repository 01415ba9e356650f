// runs-on: every-node
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { KvError, type KvEvent } from '../kv.js';
import type { DefragmentStep } from './defragment.js';
import { type EmbeddedOptions, type EmbeddedStore, openEmbeddedStore } from './embedded.js';
import { askHolder } from './folder-lock.js';
import { openFolderSnapshot } from './folder-snapshot.js';
import { verifyStore } from './verify.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-defragment-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));

const fileBytes = (folder: string): number => fs.statSync(path.join(folder, 'store.mdb')).size;

/** A store whose file is mostly free: very much was written, deleted, and dropped from history. */
async function mostlyFree(name: string, options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedStore> {
  const kv = await openEmbeddedStore({ folder: path.join(root, name), historyMs: 0, ...options });
  const created = await Promise.all(Array.from({ length: 2_000 }, (_, i) => kv.create(`/a/${i}`, randomBytes(8_000))));
  await kv.create('/kept', Buffer.from('kept'), { ttlSeconds: 3_600 });
  await kv.mvcc.transact((state) => state.grants.set(7n, 60));
  await kv.mvcc.transact((state) => void state.put('/leased', Buffer.from('l'), { expiresAtMs: 0, lease: 7n }));
  for (let at = 0; at < created.length; at += 500) {
    await Promise.all(created.slice(at, at + 500).map(({ revision }, i) => kv.delete(`/a/${at + i}`, revision)));
  }
  for (;;) {
    await kv.compact(await kv.revision());
    if (kv.mvcc.size().usedBytes < 1_000_000) return kv;
    // A further change makes a further round of dropping.
    await kv.create(`/turn/${await kv.revision()}`, Buffer.from('x'));
  }
}

describe('defragmenting', () => {
  it('makes the file small while the store is read and written, and nothing is lost', async () => {
    const folder = path.join(root, 'online');
    const kv = await mostlyFree('online');
    const before = fileBytes(folder);
    assert.ok(before > 10_000_000);
    const events: KvEvent[] = [];
    const startRevision = (await kv.revision()) + 1;
    const watch = kv.watch(
      { prefix: '/', startRevision },
      {
        events: (batch) => void events.push(...batch),
        progress: () => undefined,
        failed: (error) => assert.fail(error),
      },
    );
    let isOver = false;
    const defragmenting = kv.mvcc.defragment();
    assert.equal(kv.mvcc.defragment(), defragmenting, 'two are one');
    void defragmenting.finally(() => (isOver = true));
    const written = new Map<string, string>();
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let n = 0; !isOver; n++) {
          const key = `/w/${writer}-${n}`;
          const value = randomBytes(300).toString('hex');
          const { revision } = await kv.create(key, Buffer.from(value));
          assert.equal((await kv.get(key))?.value.toString(), value);
          if (n % 3 === 0) await kv.delete(key, revision);
          else written.set(key, value);
        }
      }),
    );
    const { afterBytes } = await defragmenting;
    assert.ok(afterBytes < before / 2, `${before} → ${afterBytes}`);
    assert.ok(fileBytes(folder) < before / 2, `${before} → ${fileBytes(folder)}`);
    assert.deepEqual(
      events.map(({ revision }) => revision),
      events.map((_, i) => startRevision + i),
    );
    const state = async (store: EmbeddedStore): Promise<Map<string, string>> => {
      const { kvs } = await store.range({ start: '/w/', end: '/w0' });
      return new Map(kvs.map(({ key, value }) => [key, value.toString()]));
    };
    assert.deepEqual(await state(kv), new Map([...written].sort(([a], [b]) => (a < b ? -1 : 1))));
    const revision = await kv.revision();
    const past = await kv.range({ start: '/w/', end: '/w0', revision: startRevision + 10 });
    watch.cancel();
    await kv.close();
    assert.ok(!fs.existsSync(path.join(folder, 'defragment')));
    const { faults, damaged } = await verifyStore(folder);
    assert.deepEqual([faults, damaged], [[], []]);
    const reopened = await openEmbeddedStore({ folder, historyMs: 0 });
    assert.equal(await reopened.revision(), revision);
    assert.deepEqual(await state(reopened), new Map([...written].sort(([a], [b]) => (a < b ? -1 : 1))));
    assert.deepEqual(await reopened.range({ start: '/w/', end: '/w0', revision: startRevision + 10 }), past);
    assert.deepEqual([...reopened.mvcc.leases.namesOf(7n, String)], ['/leased']);
    await reopened.close();
  });

  it('leaves a whole store wherever it is interrupted', async () => {
    const folder = path.join(root, 'interrupted');
    const steps: DefragmentStep[] = [];
    const kv = await mostlyFree('interrupted', {
      defragmenting(step) {
        steps.push(step);
        // What a process that is killed now leaves behind, without the sockets.
        const copy = path.join(root, `at-${step}`);
        fs.mkdirSync(copy, { mode: 0o700 });
        for (const name of ['FORMAT', 'store.mdb', 'store.mdb-lock', 'defragment']) {
          if (fs.existsSync(path.join(folder, name))) {
            fs.cpSync(path.join(folder, name), path.join(copy, name), { recursive: true });
          }
        }
      },
    });
    const revision = await kv.revision();
    await kv.mvcc.defragment();
    assert.deepEqual(steps, ['copied', 'caught-up', 'lock-renamed', 'renamed', 'moved']);
    await kv.close();
    for (const step of steps) {
      const at = path.join(root, `at-${step}`);
      const found = await openEmbeddedStore({ folder: at });
      assert.equal(await found.revision(), revision, step);
      assert.equal((await found.get('/kept'))?.value.toString(), 'kept');
      await found.close();
      assert.ok(!fs.existsSync(path.join(at, 'defragment')), step);
      assert.deepEqual((await verifyStore(at)).faults, []);
    }
  });

  it('is refused where the disk has no room for a copy, and changes nothing', async () => {
    let room = 2 ** 40;
    const kv = await mostlyFree('no-room', { freeBytes: () => room });
    room = 3_000_000;
    const before = kv.mvcc.size();
    await assert.rejects(kv.mvcc.defragment(), (error) => error instanceof KvError && error.code === 'disk-full');
    assert.deepEqual(kv.mvcc.size(), before);
    assert.equal((await kv.get('/kept'))?.value.toString(), 'kept');
    await kv.close();
  });

  it('is not finished by a store that is closed meanwhile', async () => {
    const kv = await mostlyFree('closed');
    const defragmenting = kv.mvcc.defragment();
    const failed = assert.rejects(defragmenting, (error) => error instanceof KvError && error.code === 'closed');
    await kv.close();
    await failed;
    assert.deepEqual((await verifyStore(path.join(root, 'closed'))).faults, []);
  });

  it('is done for whoever asks at the lock of the folder', async () => {
    const folder = path.join(root, 'asked');
    const kv = await mostlyFree('asked');
    const before = fileBytes(folder);
    assert.match((await askHolder(folder, 'defragment')) ?? '', /^defragment \d+ \d+$/);
    assert.ok(fileBytes(folder) < before / 2);
    assert.equal(await askHolder(folder, 'sing'), 'refused: sing');
    await kv.close();
    assert.equal(await askHolder(folder, 'defragment'), undefined);
  });

  it('leaves readers beside with what they began with, and others with the new file', async () => {
    const folder = path.join(root, 'beside');
    const kv = await mostlyFree('beside');
    const begun = await openFolderSnapshot(folder);
    await kv.mvcc.defragment();
    await kv.create('/later', Buffer.from('x'));
    const later = await openFolderSnapshot(folder);
    const keysOf = async (snapshot: typeof begun): Promise<string[]> => {
      const keys: string[] = [];
      for await (const page of snapshot.pages()) keys.push(...page.map(({ key }) => key));
      return keys.filter((key) => !key.startsWith('/turn/'));
    };
    assert.deepEqual(await keysOf(begun), ['/kept', '/leased']);
    assert.deepEqual(await keysOf(later), ['/kept', '/later', '/leased']);
    for (const snapshot of [begun, later]) await snapshot.close();
    await kv.close();
  });
});
