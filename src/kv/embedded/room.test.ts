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
  /** For the reserve, and for the store's file to grow: it really does, as far as there is room. */
  room: number;
  readonly logged: string[];
  readonly clock: ManualClock;
}

const newDisk = (): Disk => ({ room: PLENTY, logged: [], clock: new ManualClock() });

const reserveOf = (name: string): string => path.join(root, name, 'reserve');
const reserveBytes = (name: string): number => fs.statSync(reserveOf(name), { throwIfNoEntry: false })?.size ?? 0;
const freeBytes = (disk: Disk, name: string): number => disk.room - reserveBytes(name);

/** Somebody else takes all that is free. */
async function fill(disk: Disk, name: string): Promise<void> {
  disk.room = reserveBytes(name);
  await disk.clock.move(1_000);
}

const openOn = (disk: Disk, name: string, quotaBytes?: number): Promise<KeyValueStore> =>
  openEmbeddedStore({
    quotaBytes,
    folder: path.join(root, name),
    freeBytes: () => freeBytes(disk, name),
    async writeZeros(fd, from, bytes) {
      const written = Math.max(0, Math.min(bytes, freeBytes(disk, name)));
      fs.writeSync(fd, Buffer.alloc(written), 0, written, from);
      disk.room -= written;
      return written;
    },
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
    await fill(disk, 'refuses');
    await assert.rejects(kv.create('/new', Buffer.from('x')), isFull);
    await assert.rejects(kv.update('/a/0', first, Buffer.from('x')), isFull);
    assert.equal((await kv.update('/a/0', 99_999, Buffer.from('x'))).done, false);
    assert.equal((await kv.range({ start: '/a/', end: '/a0' })).kvs.length, OBJECTS);
    await kv.health({ timeoutMs: 1_000 });
    assert.equal(disk.logged.length, 1);
    assert.match(disk.logged[0] ?? '', /^no space left to write to .*: only deletes are accepted/);
    disk.room = PLENTY;
    await disk.clock.move(1_000);
    assert.equal((await kv.create('/new', Buffer.from('x'))).done, true);
    assert.match(disk.logged[1] ?? '', /^there is space to write to .* again$/);
    await kv.close();
  });

  it('is freed by deletes, whose events are whole, and then accepts creates again', async () => {
    const disk = newDisk();
    const kv = await openOn(disk, 'frees');
    const revisions = await filled(kv);
    await fill(disk, 'frees');
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
    let kv = await openOn(disk, 'reserve');
    const size = (): number => reserveBytes('reserve');
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
    assert.equal(fs.statSync(reserveOf('reserve')).mode & 0o777, 0o600);
    const storeBytes = await kv.sizeBytes();
    await kv.close();
    // An earlier build has nothing allocated ahead.
    fs.truncateSync(path.join(root, 'reserve', 'store.mdb'), storeBytes);
    await fill(disk, 'reserve');
    kv = await openOn(disk, 'reserve');
    await kv.delete('/a/0', revisions[0] ?? 0);
    const given = size();
    assert.ok(given < whole, `${given} of ${whole}`);
    disk.room = PLENTY;
    await tick(() => size() === whole);
    assert.equal(size(), whole);
    await kv.close();
  });

  it('that fills within a commit refuses the whole commit before the engine begins, and deletes go on', async () => {
    const disk = newDisk();
    const kv = await openOn(disk, 'within');
    const revisions = await filled(kv);
    const file = path.join(root, 'within', 'store.mdb');
    // Free space is believed for a second: creates are accepted, and then there are no blocks for them.
    disk.room = reserveBytes('within');
    const creates = Array.from({ length: 200 }, (_, i) => kv.create(`/b/${i}`, randomBytes(VALUE_BYTES)));
    const deletes = revisions.slice(0, 50).map((revision, i) => kv.delete(`/a/${i}`, revision));
    const results = await Promise.allSettled(creates);
    const done = results.filter(({ status }) => status === 'fulfilled').length;
    assert.ok(done < 200);
    for (const result of results) if (result.status === 'rejected') isFull(result.reason);
    for (const { done: isDone } of await Promise.all(deletes)) assert.equal(isDone, true);
    assert.equal((await kv.range({ start: '/', end: '0' })).count, OBJECTS - 50 + done);
    assert.ok((await kv.sizeBytes()) <= fs.statSync(file).size, 'the engine never makes the file longer itself');
    await kv.close();
    const again = await openOn(disk, 'within');
    assert.equal((await again.range({ start: '/', end: '0' })).count, OBJECTS - 50 + done);
    await again.close();
  });

  it('can be started on, with the reserve or what the engine had before', async () => {
    const disk = newDisk();
    const kv = await openOn(disk, 'start');
    await filled(kv);
    await kv.close();
    await fill(disk, 'start');
    const again = await openOn(disk, 'start');
    assert.equal((await again.range({ start: '/a/', end: '/a0' })).count, OBJECTS);
    await again.close();
    fs.rmSync(path.join(root, 'start', 'store.mdb-lock'));
    await assert.rejects(openOn(disk, 'start'), { code: 'disk-full' });
    fs.writeFileSync(reserveOf('start'), Buffer.alloc(2 * 1024 * 1024));
    await fill(disk, 'start');
    await (await openOn(disk, 'start')).close();
    assert.equal(reserveBytes('start'), 1024 * 1024);
  });
});

describe('a quota', () => {
  it('refuses what adds, accepts deletes, and recovers by them', async () => {
    const disk = newDisk();
    const kv = await openOn(disk, 'quota', 3 * OBJECTS * VALUE_BYTES);
    const revisions = await filled(kv);
    const refused: unknown[] = [];
    for (let i = 0; refused.length === 0 && i < 10 * OBJECTS; i++) {
      await kv.create(`/more/${i}`, randomBytes(VALUE_BYTES)).catch((error: unknown) => refused.push(error));
    }
    assert.ok(isFull(refused[0]));
    assert.match(disk.logged[0] ?? '', /^the quota of 12000000 bytes in .* is used up: only deletes are accepted/);
    await Promise.all(revisions.map((revision, i) => kv.delete(`/a/${i}`, revision)));
    await disk.clock.move(1_000);
    assert.equal((await kv.create('/new', randomBytes(VALUE_BYTES))).done, true);
    await kv.close();
  });
});
