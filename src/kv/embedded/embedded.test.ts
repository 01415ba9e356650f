// runs-on: every-node
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { collect, kvContract } from '../kv.contract.js';
import { type KeyValueStore, KvError, type KvEvent, prefixEnd } from '../kv.js';
import { openEmbeddedStore } from './embedded.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-embedded-'));
let folders = 0;
const newFolder = (): string => path.join(root, String(++folders));
after(() => fs.rmSync(root, { recursive: true, force: true }));

kvContract('embedded store', { open: () => openEmbeddedStore({ folder: newFolder() }), close: (kv) => kv.close() });

const failsWith =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof KvError && error.code === code;

describe('embedded store', () => {
  it('starts at revision 1 and goes on with revisions, values, history and expiries after a restart', async () => {
    const folder = newFolder();
    const before = await openEmbeddedStore({ folder });
    assert.equal(await before.revision(), 1);
    await before.create('/a/1', Buffer.from('one'));
    await before.create('/a/2', Buffer.from('two'), { ttlSeconds: 1 });
    await before.update('/a/1', 2, Buffer.from('uno'));
    await before.close();
    const kv = await openEmbeddedStore({ folder });
    assert.equal(await kv.revision(), 4);
    const events = collect(kv, { prefix: '/a/', startRevision: 2, previous: true });
    assert.deepEqual(
      (await events.take(3)).map((e) => [e.key, e.value.toString(), e.previous?.value.toString()]),
      [
        ['/a/1', 'one', undefined],
        ['/a/2', 'two', undefined],
        ['/a/1', 'uno', 'one'],
      ],
    );
    const past = await kv.range({ start: '/a/', end: prefixEnd('/a/'), revision: 3 });
    assert.deepEqual(
      past.kvs.map(({ value }) => value.toString()),
      ['one', 'two'],
    );
    const alive = setInterval(() => undefined, 1000);
    const [expired] = await events.take(1);
    clearInterval(alive);
    assert.deepEqual([expired?.type, expired?.key, expired?.revision], ['delete', '/a/2', 5]);
    await kv.close();
  });

  it('knows what another build wrote, through any number of restarts', async () => {
    const folder = newFolder();
    const opened = async (writer: string): Promise<number | undefined> => {
      const kv = await openEmbeddedStore({ folder, writer });
      await kv.create(`/${await kv.revision()}`, Buffer.from('x'));
      await kv.close();
      return kv.olderRevision;
    };
    const revisions = [await opened('a'), await opened('a'), await opened('b'), await opened('b'), await opened('c')];
    assert.deepEqual(revisions, [1, 1, 3, 3, 5]);
  });

  it('drops history that is older than the requested revision, and keeps the state', async () => {
    let now = 1_000_000;
    const timers: { at: number; call: () => void }[] = [];
    const clock = {
      now: () => now,
      after: (ms: number, call: () => void) => {
        timers.push({ at: now + ms, call });
        return () => undefined;
      },
    };
    const kv = await openEmbeddedStore({ folder: newFolder(), clock, historyMs: 60_000 });
    await kv.create('/a', Buffer.from('1'));
    await kv.update('/a', 2, Buffer.from('2'));
    now += 100_000;
    await kv.update('/a', 3, Buffer.from('3'));
    for (const { call } of timers.splice(0)) call();
    while (kv.compactedRevision() < 3) await new Promise((resolve) => setImmediate(resolve));
    await assert.rejects(kv.get('/a', { revision: 2 }), failsWith('compacted'));
    assert.equal((await kv.get('/a', { revision: 3 }))?.value.toString(), '2');
    assert.equal((await kv.get('/a'))?.value.toString(), '3');
    await kv.close();
  });

  it('drops history in its time though the clock was set back: what is from the future is as old as it is known', async () => {
    let now = 10_000_000;
    let timers: (() => void)[] = [];
    const clock = {
      now: () => now,
      after: (_ms: number, call: () => void) => {
        timers.push(call);
        return () => undefined;
      },
    };
    const folder = newFolder();
    const before = await openEmbeddedStore({ folder, clock, historyMs: 60_000 });
    await before.create('/a', Buffer.from('1'));
    await before.update('/a', 2, Buffer.from('2'));
    await before.close();
    now = 1_000_000;
    timers = [];
    const kv = await openEmbeddedStore({ folder, clock, historyMs: 60_000 });
    await kv.update('/a', 3, Buffer.from('3'));
    /** Runs what waits for its time, until it waits again. */
    const round = async (): Promise<void> => {
      const due = timers.splice(0);
      for (const call of due) call();
      while (timers.length < due.length) await new Promise((resolve) => setImmediate(resolve));
    };
    await round();
    now += 59_000;
    await round();
    assert.equal(kv.compactedRevision(), 0, 'they are young');
    now += 2_000;
    await round();
    assert.ok(kv.compactedRevision() >= 3, `${kv.compactedRevision()}`);
    assert.equal((await kv.get('/a'))?.value.toString(), '3');
    await kv.close();
  });

  it('lets the newest revision grow old, too, when nothing is written', async () => {
    let now = 1_000_000;
    let timers: (() => void)[] = [];
    const clock = {
      now: () => now,
      after: (_ms: number, call: () => void) => {
        timers.push(call);
        return () => undefined;
      },
    };
    const kv = await openEmbeddedStore({ folder: newFolder(), clock, historyMs: 60_000 });
    const { revision } = await kv.create('/a', Buffer.from('1'));
    for (let round = 0; round < 1000 && kv.compactedRevision() <= revision; round++) {
      now += 61_000;
      for (const call of timers.splice(0)) call();
      for (let turn = 0; turn < 100 && timers.length < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    timers = [];
    await assert.rejects(kv.get('/a', { revision }), failsWith('compacted'));
    assert.equal((await kv.get('/a'))?.value.toString(), '1');
    await kv.close();
  });

  it('reads a page of a long past, and stops when nobody waits for it or the store is closed', async () => {
    const kv = await openEmbeddedStore({ folder: newFolder() });
    const value = Buffer.from('x');
    await Promise.all(Array.from({ length: 3_000 }, (_, i) => kv.create(`/a/${i}`, value)));
    const request = { prefix: '/a/', startRevision: 2, endRevision: 3_001, maxBytes: 100 };
    const leave = new AbortController();
    const left = kv.changes?.({ ...request, signal: leave.signal });
    leave.abort(new Error('left'));
    await assert.rejects(left ?? assert.fail(), { message: 'left' });
    const page = await kv.changes?.(request);
    assert.deepEqual([page?.events.length, page?.upTo], [101, 102]);
    const failed = kv.changes?.({ ...request, startRevision: 103 });
    await kv.close();
    await Promise.allSettled([failed]);
    await assert.rejects(kv.changes?.(request) ?? assert.fail(), failsWith('closed'));
  });

  it('hands over everything to a watch from the first revision', async () => {
    const kv = await openEmbeddedStore({ folder: newFolder() });
    await kv.create('/a', Buffer.from('x'));
    const events = collect(kv, { prefix: '/', startRevision: 1 });
    assert.deepEqual(
      (await events.take(1)).map(({ revision }) => revision),
      [2],
    );
    await kv.close();
  });

  it('refuses a folder that another store has open', async () => {
    const folder = newFolder();
    const first = await openEmbeddedStore({ folder });
    await assert.rejects(openEmbeddedStore({ folder }), failsWith('locked'));
    await first.create('/a', Buffer.from('still works'));
    await first.close();
    await (await openEmbeddedStore({ folder })).close();
  });

  it('says which folder cannot be made, and why', async () => {
    const file = path.join(newFolder(), 'file');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, 'kept');
    for (const folder of [file, path.join(file, 'below'), '/proc/none']) {
      await assert.rejects(openEmbeddedStore({ folder }), (error: Error) => {
        assert.match(
          error.message,
          /^cannot use the data folder \/.*: (?:mkdir|stat) \/.*; name one that can be written to$/,
        );
        return failsWith('unavailable')(error);
      });
    }
    assert.equal(fs.readFileSync(file, 'utf8'), 'kept');
  });

  it('says that its file is damaged, whichever page was overwritten, or goes on without it', async () => {
    const folder = newFolder();
    const store = await openEmbeddedStore({ folder });
    for (let i = 0; i < 150; i++)
      await store.create(`/key-with-a-long-name-so-that-few-fit/${i}`, Buffer.alloc(300, 'v'));
    for (let i = 0; i < 50; i++) await store.delete(`/key-with-a-long-name-so-that-few-fit/${i}`, i + 2);
    await store.close();
    const file = path.join(folder, 'store.mdb');
    const good = fs.readFileSync(file);
    let refused = 0;
    for (let page = 0; page < good.length / 4096; page++) {
      const bad = Buffer.from(good);
      bad.fill(0, page * 4096, (page + 1) * 4096);
      fs.writeFileSync(file, bad);
      try {
        const opened = await openEmbeddedStore({ folder });
        await opened.range({ start: '/', end: '0' });
        await opened.create('/after', Buffer.from('written'));
        await opened.close();
      } catch (error) {
        assert.ok(failsWith('damaged')(error as Error), `page ${page}: ${String(error)}`);
        refused++;
      }
    }
    assert.ok(refused > 10, `${refused}`);
  });

  it('refuses a newer format, a foreign file and a file cut short, and changes nothing', async () => {
    const folder = newFolder();
    const store = await openEmbeddedStore({ folder });
    for (let i = 0; i < 20; i++) await store.create(`/${i}`, randomBytes(4000));
    const size = await store.sizeBytes();
    await store.close();
    const file = path.join(folder, 'store.mdb');
    const good = fs.readFileSync(file).subarray(0, size);
    fs.writeFileSync(file, good.subarray(0, good.length - 8192));
    await assert.rejects(openEmbeddedStore({ folder }), failsWith('damaged'));
    assert.equal(fs.statSync(file).size, good.length - 8192);
    fs.writeFileSync(file, Buffer.alloc(20_000, 'q'));
    await assert.rejects(openEmbeddedStore({ folder }), failsWith('damaged'));
    fs.rmSync(file);
    await assert.rejects(openEmbeddedStore({ folder }), failsWith('damaged'));
    fs.writeFileSync(file, good);
    fs.writeFileSync(path.join(folder, 'FORMAT'), 'binnacle-store 5\n');
    await assert.rejects(openEmbeddedStore({ folder }), failsWith('newer-format'));
    fs.writeFileSync(path.join(folder, 'FORMAT'), 'binnacle-store 4\n');
    const again = await openEmbeddedStore({ folder });
    assert.equal((await again.range({ start: '/', end: '0' })).count, 20);
    await again.close();
  });

  it('opens a file that lacks only pages which are not in use', async () => {
    const folder = newFolder();
    const store = await openEmbeddedStore({ folder });
    for (let i = 0; i < 20; i++) await store.create(`/${i}`, randomBytes(4000));
    await store.close();
    const file = path.join(folder, 'store.mdb');
    const bytes = fs.readFileSync(file);
    const pageSize = bytes.readUInt32LE(0x30);
    // Both meta pages count one page more than there is, as after a commit that a full disk broke off.
    for (const meta of [0, pageSize]) {
      const lastPage = BigInt(bytes.length / pageSize);
      bytes.writeBigUInt64LE(lastPage, meta + 0x90);
    }
    fs.writeFileSync(file, bytes);
    const again = await openEmbeddedStore({ folder });
    assert.equal((await again.range({ start: '/', end: '0' })).count, 20);
    await again.create('/more', randomBytes(40_000));
    await again.close();
    assert.ok(fs.statSync(file).size >= bytes.length + pageSize);
  });

  it('reads what happened, and how it was, cooperatively who write meanwhile', async () => {
    const kv = await openEmbeddedStore({ folder: newFolder() });
    const keys = Array.from({ length: 1_000 }, (_, i) => `/a/${1_000 + i}`);
    const at = new Map<string, number>();
    const writeAll = async (text: string): Promise<void> => {
      const write = async (key: string): Promise<void> => {
        const before = at.get(key);
        const value = Buffer.from(text);
        const written = before === undefined ? kv.create(key, value) : kv.update(key, before, value);
        at.set(key, (await written).revision);
      };
      await Promise.all(keys.map(write));
    };
    for (const text of ['one', 'two', 'three', 'four']) await writeAll(text);
    const newest = await kv.revision();
    // Counts the turns of the event loop while the history is read.
    let turns = 0;
    let isRead = false;
    const count = async (): Promise<void> => {
      for (; !isRead; turns++) await new Promise((resolve) => setImmediate(resolve));
    };
    const counting = count();
    const events = allChanges(kv, 2, newest);
    const range = kv.range({ start: '/a/', end: prefixEnd('/a/'), revision: 1_001, limit: 1_000 });
    await writeAll('five');
    const reported = (await events).map(({ value, previous }) => `${previous?.value.toString()} → ${value.toString()}`);
    const past = (await range).kvs.map(({ value }) => value.toString());
    isRead = true;
    await counting;
    assert.ok(turns > 4, `${turns}`);
    assert.equal(reported.length, 4_000);
    assert.deepEqual([...new Set(reported)], ['undefined → one', 'one → two', 'two → three', 'three → four']);
    assert.deepEqual([past.length, ...new Set(past)], [1_000, 'one']);
    assert.equal((await range).count, 1_000);
    await kv.close();
  });

  it('changes very many keys in one revision, and others are served the state before it or after it', async () => {
    const folder = newFolder();
    const kv = await openEmbeddedStore({ folder });
    const value = randomBytes(500);
    const keys = Array.from({ length: 3_000 }, (_, i) => `/a/${String(i).padStart(4, '0')}`);
    await kv.mvcc.transact((state) => keys.forEach((key) => state.put(key, value, { expiresAtMs: 0, lease: 0n })));
    assert.equal(await kv.revision(), 2);
    const deleting = kv.mvcc.transactInSteps(function* (state) {
      keys.forEach((key) => state.delete(key));
      yield;
    });
    const seen = new Set<string>();
    for (let isOver = false; !isOver;) {
      const [first, last] = [keys[0] ?? '', keys[keys.length - 1] ?? ''].map((key) => kv.mvcc.get(key));
      seen.add(`${first?.version?.modRevision} ${last?.version?.modRevision}`);
      isOver = await Promise.race([
        deleting.then(() => true),
        new Promise<false>((resolve) => setImmediate(resolve, false)),
      ]);
    }
    seen.delete('undefined undefined');
    // These are two reads, and the commit may come between them.
    seen.delete('2 undefined');
    assert.deepEqual([...seen], ['2 2']);
    assert.equal((await kv.create('/a/after', value)).revision, 4);
    await kv.close();
    const again = await openEmbeddedStore({ folder });
    const all = { start: '/a/', end: prefixEnd('/a/'), countOnly: true };
    assert.equal((await again.range(all)).count, 1);
    assert.equal((await again.range({ ...all, revision: 2 })).count, keys.length);
    await again.close();
  });

  it('answers a value by its revision at once, also of what was replaced or deleted as long as history has it', async () => {
    const kv = await openEmbeddedStore({ folder: newFolder() });
    const valueAt = (key: string, revision: number): string | undefined => kv.currentValue?.(key, revision)?.toString();
    await kv.create('/a/1', Buffer.from('one'));
    await kv.create('/a/2', Buffer.from('two'));
    assert.deepEqual([valueAt('/a/1', 2), valueAt('/a/2', 3), valueAt('/a/1', 3)], ['one', 'two', undefined]);
    await kv.update('/a/1', 2, Buffer.from('uno'));
    await kv.delete('/a/2', 3);
    assert.deepEqual([valueAt('/a/1', 4), valueAt('/a/1', 2), valueAt('/a/2', 3)], ['uno', 'one', 'two']);
    await kv.compact(5);
    assert.deepEqual([valueAt('/a/1', 4), valueAt('/a/1', 2), valueAt('/a/2', 3)], ['uno', undefined, undefined]);
    await kv.close();
    assert.throws(() => valueAt('/a/1', 4), failsWith('closed'));
  });
});

async function allChanges(kv: KeyValueStore, startRevision: number, endRevision: number): Promise<KvEvent[]> {
  const events: KvEvent[] = [];
  for (let next = startRevision; next <= endRevision;) {
    const page = await kv.changes?.({ prefix: '/a/', startRevision: next, endRevision, maxBytes: 10_000 });
    events.push(...(page?.events ?? []));
    next = (page?.upTo ?? Infinity) + 1;
  }
  return events;
}
