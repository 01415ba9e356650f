import { logTo } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { type KeyValueStore, KvError, type KvEvent } from '../kv.js';
import { openEmbeddedStore } from './embedded.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-room-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));

const PLENTY = 1024 ** 3;
const OBJECTS = 400;
const VALUE_BYTES = 10_000;

interface Disk {
  free: number;
  readonly logged: string[];
  readonly clock: ManualClock;
}

const newDisk = (): Disk => ({ free: PLENTY, logged: [], clock: new ManualClock() });

const openOn = (disk: Disk, name: string): Promise<KeyValueStore> =>
  openEmbeddedStore({
    folder: path.join(root, name),
    freeBytes: () => disk.free,
    clock: disk.clock,
    log: logTo((message) => disk.logged.push(message)),
  });

const isFull = (error: unknown): boolean => {
  assert.ok(error instanceof KvError);
  assert.equal(error.message, 'etcdserver: mvcc: database space exceeded');
  return error.code === 'disk-full';
};

async function filled(kv: KeyValueStore): Promise<number[]> {
  const value = (): Buffer => randomBytes(VALUE_BYTES);
  const results = await Promise.all(Array.from({ length: OBJECTS }, (_, i) => kv.create(`/a/${i}`, value())));
  return results.map(({ revision }) => revision);
}

describe('a full disk', () => {
  it('refuses what adds, serves what is there, and is not ill', async () => {
    const disk = newDisk();
    const kv = await openOn(disk, 'refuses');
    const [first = 0] = await filled(kv);
    disk.free = 0;
    await disk.clock.move(1_000);
    await assert.rejects(kv.create('/new', Buffer.from('x')), isFull);
    await assert.rejects(kv.update('/a/0', first, Buffer.from('x')), isFull);
    assert.equal((await kv.update('/a/0', 99_999, Buffer.from('x'))).done, false);
    assert.equal((await kv.range({ start: '/a/', end: '/a0' })).kvs.length, OBJECTS);
    await kv.health({ timeoutMs: 1_000 });
    assert.equal(disk.logged.length, 1);
    assert.match(disk.logged[0] ?? '', /^no space left to write to .*: only deletes are accepted/);
    disk.free = PLENTY;
    await disk.clock.move(1_000);
    assert.equal((await kv.create('/new', Buffer.from('x'))).done, true);
    assert.match(disk.logged[1] ?? '', /^there is space to write to .* again$/);
    await kv.close();
  });

  it('is freed by deletes, whose events are whole, and then accepts creates again', async () => {
    const disk = newDisk();
    const kv = await openOn(disk, 'frees');
    const revisions = await filled(kv);
    disk.free = 0;
    await disk.clock.move(1_000);
    await assert.rejects(kv.create('/new', Buffer.from('x')), isFull);
    const sizeBefore = await kv.sizeBytes();
    const events: KvEvent[] = [];
    kv.watch(
      { prefix: '/a/', previous: true },
      {
        events: (batch) => void events.push(...batch),
        progress: () => undefined,
        failed: () => undefined,
      },
    );
    await Promise.all(revisions.map((revision, i) => kv.delete(`/a/${i}`, revision)));
    assert.deepEqual(
      [...new Set(events.map(({ type, previous }) => `${type} ${previous?.value.length}`))],
      [`delete ${VALUE_BYTES}`],
    );
    assert.equal(events.length, OBJECTS);
    assert.ok((await kv.sizeBytes()) - sizeBefore < 1024 * 1024, 'what is deleted is not written once more');
    await assert.rejects(kv.get('/a/0', { revision: revisions[0] ?? 0 }), { code: 'compacted' });
    await disk.clock.move(1_000);
    assert.equal((await kv.create('/new', randomBytes(VALUE_BYTES))).done, true);
    await kv.close();
  });

  it('gives up its reserve for deletes, and makes it whole when there is room', async () => {
    const disk = newDisk();
    const kv = await openOn(disk, 'reserve');
    const reserve = path.join(root, 'reserve', 'reserve');
    const size = (): number => fs.statSync(reserve, { throwIfNoEntry: false })?.size ?? 0;
    const tick = async (isDone: () => boolean): Promise<void> => {
      for (let round = 0; round < 1_000 && !isDone(); round++) {
        await disk.clock.move(5_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const revisions = await filled(kv);
    await tick(() => size() >= 4 * 1024 * 1024);
    const whole = size();
    assert.equal(whole, 4 * 1024 * 1024);
    assert.equal(fs.statSync(reserve).mode & 0o777, 0o600);
    disk.free = 0;
    await disk.clock.move(1_000);
    await kv.delete('/a/0', revisions[0] ?? 0);
    const given = size();
    assert.ok(given < whole, `${given} of ${whole}`);
    disk.free = PLENTY;
    await tick(() => size() === whole);
    assert.equal(size(), whole);
    await kv.close();
  });

  it('can be started on, with the reserve or what the engine had before', async () => {
    const disk = newDisk();
    const kv = await openOn(disk, 'start');
    await filled(kv);
    await kv.close();
    disk.free = 0;
    const again = await openOn(disk, 'start');
    assert.equal((await again.range({ start: '/a/', end: '/a0' })).count, OBJECTS);
    await again.close();
    fs.rmSync(path.join(root, 'start', 'store.mdb-lock'));
    await assert.rejects(openOn(disk, 'start'), { code: 'disk-full' });
    fs.writeFileSync(path.join(root, 'start', 'reserve'), Buffer.alloc(2 * 1024 * 1024));
    await (await openOn(disk, 'start')).close();
    assert.equal(fs.statSync(path.join(root, 'start', 'reserve')).size, 1024 * 1024);
  });
});
