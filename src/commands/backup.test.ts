import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { openFolderSnapshot } from '../kv/embedded/folder-snapshot.js';
import { openEmbeddedStore } from '../kv/embedded/embedded.js';
import type { SnapshotEntry } from '../kv/snapshot.js';
import { runCommand } from './testing.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-backup-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));

const HOUR_SECONDS = 3600;
const keyOf = (i: number): string => `/registry/configmaps/default/${String(i).padStart(4, '0')}`;
const valueOf = (i: number): Buffer =>
  Buffer.from(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${i}"},"data":{"text":"text of ${i}"}}`);

async function writtenFolder(folder: string): Promise<void> {
  const kv = await openEmbeddedStore({ folder });
  await Promise.all(Array.from({ length: 1_200 }, (_, i) => kv.create(keyOf(i), valueOf(i))));
  await kv.delete(keyOf(7), 9);
  await kv.update(keyOf(8), 10, Buffer.concat([valueOf(8), Buffer.alloc(300_000, ' ')]));
  await kv.create('/registry/events/default/soon', valueOf(1), { ttlSeconds: HOUR_SECONDS });
  await kv.close();
}

async function entriesOf(folder: string): Promise<{ revision: number; entries: SnapshotEntry[] }> {
  const snapshot = await openFolderSnapshot(folder);
  const entries: SnapshotEntry[] = [];
  for await (const page of snapshot.pages()) for (const entry of page) entries.push(entry);
  await snapshot.close();
  return { revision: snapshot.revision, entries };
}

describe('backup and restore', () => {
  const folder = path.join(root, 'data');
  let test = 0;
  let file: string;
  let target: string;
  beforeEach(async () => {
    if (test === 0) await writtenFolder(folder);
    test++;
    file = path.join(root, `${test}.backup`);
    target = path.join(root, `restored-${test}`);
  });
  const restored = (...more: string[]): ReturnType<typeof runCommand> =>
    runCommand(['restore', file, `--data-dir=${target}`, ...more]);

  it('keep every key with its value, revisions and end, and continue at a later revision', async () => {
    const { code, out } = await runCommand(['backup', file, `--data-dir=${folder}`]);
    assert.equal(code, 0);
    assert.match(out, /^revision 1204, 1200 keys, \d+ bytes\nSHA-256 [0-9a-f]{64}\n$/);
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    const verified = await runCommand(['verify', file]);
    assert.deepEqual(verified, {
      code: 0,
      out: 'backup of revision 1204, 1200 keys\n     1199  /registry/configmaps\n        1  /registry/events\nsound\n',
      err: '',
    });
    assert.deepEqual(await restored(), { code: 0, out: `1200 keys of revision 1204 are in ${target}\n`, err: '' });
    assert.deepEqual(fs.readdirSync(target).sort(), ['FORMAT', 'store.mdb']);
    const [before, now] = [await entriesOf(folder), await entriesOf(target)];
    assert.deepEqual(now.entries, before.entries);
    assert.equal(now.revision, 1_000_001_204);
    assert.match((await runCommand(['verify', target])).out, /sound\n$/);
  });

  it('tell watches of before that they are too late, and let a store begin where the backup was', async () => {
    await runCommand(['backup', file, `--data-dir=${folder}`]);
    await restored('--bump-revision=0');
    const kv = await openEmbeddedStore({ folder: target });
    assert.equal(await kv.revision(), 1204);
    await assert.rejects(kv.range({ start: '/', end: '0', revision: 1203 }), { code: 'compacted' });
    const { done, revision } = await kv.create('/registry/configmaps/default/new', valueOf(0));
    assert.deepEqual([done, revision], [true, 1205]);
    await kv.close();
  });

  it('leave out what has expired since', async () => {
    await runCommand(['backup', file, `--data-dir=${folder}`]);
    const { openBackup } = await import('../kv/backup-file.js');
    const { writeNewStore } = await import('../kv/embedded/new-store.js');
    const snapshot = await openBackup(fs.createReadStream(file), file);
    const nowMs = Date.now() + 2 * HOUR_SECONDS * 1000;
    assert.equal(await writeNewStore({ folder: target, revision: 5000, nowMs }, snapshot.pages()), 1199);
    assert.equal((await entriesOf(target)).entries.length, 1199);
  });

  it('show how far they are on a terminal only', async () => {
    const { err } = await runCommand(['backup', file, `--data-dir=${folder}`], { showsProgress: true });
    assert.match(err, /\rBacking up \[#{30}\] 100 %  1200 of 1200/);
    assert.ok(err.endsWith('\r\x1b[K'));
  });

  it('refuse to write over anything, and leave nothing half done', async () => {
    await runCommand(['backup', file, `--data-dir=${folder}`]);
    const twice = await runCommand(['backup', file, `--data-dir=${folder}`]);
    assert.deepEqual(twice, { code: 1, out: '', err: `error: ${file} exists already\n` });
    assert.match((await runCommand(['restore', file, `--data-dir=${folder}`])).err, /there is a store in .* already/);
    const nowhere = path.join(root, 'no', 'such', 'folder');
    assert.equal((await runCommand(['backup', nowhere, `--data-dir=${folder}`])).code, 1);
    assert.match((await runCommand(['backup', `${file}.2`, `--data-dir=${root}`])).err, /there is no store in/);
    for (const argv of [['backup'], ['restore', file], ['restore', `--data-dir=${target}`], ['backup', 'a', 'b']]) {
      assert.equal((await runCommand(argv)).code, 2, argv.join(' '));
    }
    assert.deepEqual(
      fs.readdirSync(root).filter((name) => name.endsWith('.partial') || name.endsWith('.2')),
      [],
    );
  });

  it('refuse a store with a damaged value, by its key, without a file', async () => {
    await writtenFolder(target);
    const store = path.join(target, 'store.mdb');
    fs.writeFileSync(
      store,
      Buffer.from(fs.readFileSync(store, 'latin1').replaceAll('text of 77"', 'text of 78"'), 'latin1'),
    );
    const { code, err } = await runCommand(['backup', file, `--data-dir=${target}`]);
    assert.equal(code, 1);
    assert.match(err, /the checksum of the value stored for \/registry\/configmaps\/default\/0077 .* does not match/);
    assert.equal(fs.existsSync(file) || fs.existsSync(`${file}.partial`), false);
  });

  it('refuse a file that is cut short or changed, and leave no store', async () => {
    await runCommand(['backup', file, `--data-dir=${folder}`]);
    fs.truncateSync(file, fs.statSync(file).size - 20);
    assert.match((await runCommand(['verify', file])).err, /is damaged: it ends too early/);
    assert.equal((await restored()).code, 1);
    fs.writeFileSync(file, 'something else');
    assert.equal((await restored()).err, `error: ${file} is no backup of this program\n`);
    assert.deepEqual(fs.existsSync(target) ? fs.readdirSync(target) : [], []);
  });

  it('can be run again after an end in the middle, which no server takes for a store', async () => {
    await runCommand(['backup', file, `--data-dir=${folder}`]);
    for (const leftOver of [['incoming'], ['incoming', 'store.mdb']]) {
      fs.mkdirSync(path.join(target, 'incoming'), { recursive: true });
      for (const name of leftOver.slice(1)) fs.writeFileSync(path.join(target, name), Buffer.alloc(20_000));
      await assert.rejects(openEmbeddedStore({ folder: target }), /was not finished: run it again/);
      assert.equal((await restored()).code, 0);
      await (await openEmbeddedStore({ folder: target })).close();
      fs.rmSync(target, { recursive: true });
    }
  });
});
