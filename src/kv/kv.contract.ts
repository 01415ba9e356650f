// The suite every key-value store passes.
import { append } from '../lib/values/append.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KeyValueStore, KvError, type KvEvent, prefixEnd, type WriteResult } from './kv.js';

export interface ContractSetup {
  /** A store; tests use a prefix of their own, so it may be shared and hold other keys. */
  open(): Promise<KeyValueStore>;
  /** Called after each test. */
  close(kv: KeyValueStore): Promise<void>;
}

const bytes = (text: string): Buffer => Buffer.from(text);
let folders = 0;

export function kvContract(name: string, setup: ContractSetup): void {
  const using = (title: string, run: (kv: KeyValueStore, folder: string) => Promise<void>): void => {
    void it(title, { timeout: 20_000 }, async () => {
      // Stores do not keep a process alive, and some tests wait for time to pass.
      const alive = setInterval(() => undefined, 1000);
      const kv = await setup.open();
      try {
        await run(kv, `/contract-${process.pid}-${++folders}/`);
      } finally {
        await setup.close(kv);
        clearInterval(alive);
      }
    });
  };
  void describe(name, () => {
    reads(using);
    writes(using);
    watches(using);
    limits(using);
  });
}

type Using = (title: string, run: (kv: KeyValueStore, folder: string) => Promise<void>) => void;

function reads(using: Using): void {
  using('answers what was written, with its revisions', async (kv, folder) => {
    const made = revisionOf(await kv.create(`${folder}a`, bytes('1')));
    const changed = revisionOf(await kv.update(`${folder}a`, made, bytes('2')));
    assert.ok(changed > made);
    const read = await kv.get(`${folder}a`);
    assert.equal(read?.value.toString(), '2');
    assert.equal(read.modRevision, changed);
    assert.equal(read.createRevision, made);
    assert.equal(await kv.get(`${folder}b`), undefined);
    assert.ok((await kv.revision()) >= changed);
  });

  using('ranges in key order, with limit and count', async (kv, folder) => {
    for (const key of ['c', 'a', 'b/x', 'b', 'd']) await kv.create(folder + key, bytes(key));
    const all = await kv.range({ start: folder, end: prefixEnd(folder) });
    assert.deepEqual(
      all.kvs.map(({ key }) => key.slice(folder.length)),
      ['a', 'b', 'b/x', 'c', 'd'],
    );
    assert.equal(all.count, 5);
    const page = await kv.range({ start: `${folder}b\0`, end: prefixEnd(folder), limit: 2 });
    assert.deepEqual(
      page.kvs.map(({ value }) => value.toString()),
      ['b/x', 'c'],
    );
    assert.equal(page.count, 3);
    const counted = await kv.range({ start: folder, end: prefixEnd(folder), countOnly: true });
    assert.deepEqual([counted.kvs.length, counted.count], [0, 5]);
  });

  using('accepts keys of any length in reads, as a missing key and as the bounds of a range', async (kv, folder) => {
    for (const key of ['a', 'n', `n${'b'.repeat(300)}`, 'z']) await kv.create(folder + key, bytes('1'));
    for (const length of [400, 2_000, 9_000, 300_000]) {
      const long = `${folder}n${'b'.repeat(length)}`;
      assert.equal(await kv.get(long), undefined);
      const after = await kv.range({ start: long, end: prefixEnd(folder) });
      assert.deepEqual([after.count, after.kvs.map(({ key }) => key)], [1, [`${folder}z`]]);
      const before = await kv.range({ start: folder, end: long });
      assert.equal(before.count, 3);
    }
  });

  using('reads the past until it is compacted', async (kv, folder) => {
    const first = revisionOf(await kv.create(`${folder}a`, bytes('1')));
    const second = revisionOf(await kv.create(`${folder}b`, bytes('1')));
    const third = revisionOf(await kv.update(`${folder}a`, first, bytes('2')));
    revisionOf(await kv.delete(`${folder}b`, second));
    const at = async (revision: number): Promise<string[]> => {
      const { kvs } = await kv.range({ start: folder, end: prefixEnd(folder), revision });
      return kvs.map(({ key, value, modRevision }) => `${key.slice(folder.length)}=${value.toString()}@${modRevision}`);
    };
    assert.deepEqual(await at(first), [`a=1@${first}`]);
    assert.deepEqual(await at(second), [`a=1@${first}`, `b=1@${second}`]);
    assert.deepEqual(await at(third), [`a=2@${third}`, `b=1@${second}`]);
    assert.equal((await kv.get(`${folder}b`, { revision: second }))?.value.toString(), '1');
    await kv.compact(third);
    assert.deepEqual(await at(third), [`a=2@${third}`, `b=1@${second}`]);
    await assert.rejects(at(second), hasCode('compacted'));
    await assert.rejects(kv.get(`${folder}b`, { revision: second }), hasCode('compacted'));
  });

  using('refuses to read the future', async (kv, folder) => {
    const revision = (await kv.revision()) + 1000;
    await assert.rejects(kv.range({ start: folder, end: prefixEnd(folder), revision }), hasCode('future-revision'));
  });
}

function writes(using: Using): void {
  using('creates once, and answers what is there', async (kv, folder) => {
    const made = revisionOf(await kv.create(`${folder}a`, bytes('1')));
    const again = await kv.create(`${folder}a`, bytes('2'));
    assert.equal(again.done, false);
    assert.equal(again.done ? '' : again.current?.value.toString(), '1');
    assert.equal(again.done ? 0 : again.current?.modRevision, made);
  });

  using('updates and deletes only at the expected revision', async (kv, folder) => {
    const made = revisionOf(await kv.create(`${folder}a`, bytes('1')));
    const changed = revisionOf(await kv.update(`${folder}a`, made, bytes('2')));
    const stale = await kv.update(`${folder}a`, made, bytes('3'));
    assert.equal(stale.done ? '' : stale.current?.value.toString(), '2');
    const staleDelete = await kv.delete(`${folder}a`, made);
    assert.equal(staleDelete.done ? 0 : staleDelete.current?.modRevision, changed);
    revisionOf(await kv.delete(`${folder}a`, changed));
    const gone = await kv.update(`${folder}a`, changed, bytes('4'));
    assert.deepEqual([gone.done, gone.done ? 0 : gone.current], [false, undefined]);
    const goneDelete = await kv.delete(`${folder}a`, changed);
    assert.deepEqual([goneDelete.done, goneDelete.done ? 0 : goneDelete.current], [false, undefined]);
  });

  using('gives every one of many concurrent writes its own revision, and one winner per key', async (kv, folder) => {
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, i) => kv.create(`${folder}${i % 20}`, bytes(String(i)))),
    );
    const won = results.filter(({ done }) => done).map(({ revision }) => revision);
    assert.equal(won.length, 20);
    assert.equal(new Set(won).size, 20);
  });

  using('deletes a key when its time is over, unless it was written again without', async (kv, folder) => {
    const kept = revisionOf(await kv.create(`${folder}kept`, bytes('1'), { ttlSeconds: 1 }));
    revisionOf(await kv.update(`${folder}kept`, kept, bytes('2')));
    const events = collect(kv, { prefix: folder, previous: true });
    const made = revisionOf(await kv.create(`${folder}gone`, bytes('3'), { ttlSeconds: 1 }));
    const [, deleted] = await events.take(2);
    assert.equal(deleted?.type, 'delete');
    assert.equal(deleted.key, `${folder}gone`);
    assert.equal(deleted.previous?.modRevision, made);
    assert.equal((await kv.get(`${folder}kept`))?.value.toString(), '2');
    events.cancel();
  });
}

function watches(using: Using): void {
  using('watches a prefix from a revision, past and coming, with the previous version', async (kv, folder) => {
    const a = revisionOf(await kv.create(`${folder}a`, bytes('1')));
    const b = revisionOf(await kv.create(`${folder}b`, bytes('1')));
    const a2 = revisionOf(await kv.update(`${folder}a`, a, bytes('2')));
    await kv.create(`${folder.slice(0, -1)}-other`, bytes('x'));
    const events = collect(kv, { prefix: folder, startRevision: b, previous: true });
    const first = await events.take(2);
    const gone = revisionOf(await kv.delete(`${folder}b`, b));
    const all = [...first, ...(await events.take(1))];
    assert.deepEqual(
      all.map((e) => [e.type, e.key.slice(folder.length), e.revision, e.value.toString(), e.createRevision]),
      [
        ['put', 'b', b, '1', b],
        ['put', 'a', a2, '2', a],
        ['delete', 'b', gone, '', 0],
      ],
    );
    assert.deepEqual(
      all.map((e) => e.previous && [e.previous.value.toString(), e.previous.modRevision, e.previous.createRevision]),
      [undefined, ['1', a, a], ['1', b, b]],
    );
    events.cancel();
  });

  using('leaves the previous version out of events unless the watch requests it', async (kv, folder) => {
    const a = revisionOf(await kv.create(`${folder}a`, bytes('1')));
    const events = collect(kv, { prefix: folder, startRevision: a + 1 });
    revisionOf(await kv.update(`${folder}a`, a, bytes('2')));
    const [event] = await events.take(1);
    assert.equal(event?.previous, undefined);
    events.cancel();
  });

  using('answers what happened, page by page, with what that replaced, where it can', async (kv, folder) => {
    if (kv.changes === undefined) return;
    const made = revisionOf(await kv.create(`${folder}a`, bytes('1')));
    const changed = revisionOf(await kv.update(`${folder}a`, made, bytes('2')));
    const other = revisionOf(await kv.create(`${folder}b`, bytes('3')));
    const gone = revisionOf(await kv.delete(`${folder}a`, changed));
    const last = revisionOf(await kv.update(`${folder}b`, other, bytes('4')));
    const range = { prefix: folder, startRevision: changed, endRevision: gone };
    const whole = await kv.changes({ ...range, maxBytes: 4 });
    assert.deepEqual(
      whole.events.map((e) => [e.type, e.key.slice(folder.length), e.value.toString(), e.previous?.value.toString()]),
      [
        ['put', 'a', '2', '1'],
        ['put', 'b', '3', undefined],
        ['delete', 'a', '', '2'],
      ],
    );
    assert.equal(whole.upTo, gone);
    const first = await kv.changes({ ...range, maxBytes: 2 });
    assert.deepEqual([first.events, first.upTo], [whole.events.slice(0, 2), other], 'what exceeds it is the last');
    const rest = await kv.changes({ ...range, startRevision: other + 1, maxBytes: 2 });
    assert.deepEqual([rest.events, rest.upTo], [whole.events.slice(2), gone]);
    assert.deepEqual(await kv.changes({ ...range, prefix: `${folder}c`, maxBytes: 0 }), { events: [], upTo: gone });
    // What is written after the last page was read is seen, too: it replaced what that change wrote.
    await kv.delete(`${folder}b`, last);
    const later = await kv.changes({ ...range, startRevision: last, endRevision: last, maxBytes: 0 });
    assert.deepEqual(
      later.events.map(({ value }) => value.toString()),
      ['4'],
    );
    await kv.compact(changed);
    await assert.rejects(kv.changes({ ...range, maxBytes: 2 }), hasCode('compacted'));
  });

  using('sends progress on request', async (kv, folder) => {
    const events = collect(kv, { prefix: folder });
    const revision = revisionOf(await kv.create(`${folder}a`, bytes('1')));
    await events.take(1);
    if (kv.requestProgress()) await events.progressTo(revision);
    events.cancel();
  });

  using('ends a watch from a compacted revision with that error', async (kv, folder) => {
    let modRevision = revisionOf(await kv.create(`${folder}a`, bytes('0')));
    const first = modRevision;
    for (let i = 1; i <= 5; i++) modRevision = revisionOf(await kv.update(`${folder}a`, modRevision, bytes(String(i))));
    await kv.compact(modRevision);
    const events = collect(kv, { prefix: folder, startRevision: first });
    assert.equal((await events.failure()).code, 'compacted');
  });

  using('hands over events of many writers in revision order, none twice', async (kv, folder) => {
    const events = collect(kv, { prefix: folder, startRevision: (await kv.revision()) + 1 });
    await Promise.all(Array.from({ length: 100 }, (_, i) => kv.create(`${folder}${i}`, bytes(String(i)))));
    const revisions = (await events.take(100)).map(({ revision }) => revision);
    assert.deepEqual(
      revisions,
      [...new Set(revisions)].sort((x, y) => x - y),
    );
    events.cancel();
  });
}

function limits(using: Using): void {
  using('is healthy and reports its size', async (kv, folder) => {
    await kv.create(`${folder}a`, bytes('1'));
    await kv.health({ timeoutMs: 2000 });
    assert.ok((await kv.sizeBytes()) > 0);
  });

  using('keeps any bytes and names', async (kv, folder) => {
    const value = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    await kv.create(`${folder}ünïcode:✓`, value);
    const { kvs } = await kv.range({ start: folder, end: prefixEnd(folder) });
    assert.equal(kvs[0]?.key, `${folder}ünïcode:✓`);
    assert.ok(kvs[0].value.equals(value));
  });

  using('keeps a large value', async (kv, folder) => {
    const value = Buffer.alloc(1_200_000, 'x');
    await kv.create(`${folder}large`, value);
    assert.ok((await kv.get(`${folder}large`))?.value.equals(value));
  });
}

function revisionOf(result: WriteResult): number {
  assert.ok(result.done, 'the write was refused');
  return result.revision;
}

const hasCode =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof KvError && error.code === code;

interface Collected {
  take(count: number): Promise<KvEvent[]>;
  progressTo(revision: number): Promise<void>;
  failure(): Promise<KvError>;
  cancel(): void;
}

/** A watch whose events can be awaited. */
export function collect(kv: KeyValueStore, request: Parameters<KeyValueStore['watch']>[0]): Collected {
  const events: KvEvent[] = [];
  let progress = 0;
  let failure: KvError | undefined;
  let notify = (): void => undefined;
  const until = async <T>(ready: () => T | undefined): Promise<T> => {
    for (;;) {
      const value = ready();
      if (value !== undefined) return value;
      await new Promise<void>((resolve) => (notify = resolve));
    }
  };
  const watch = kv.watch(request, {
    events: (batch) => {
      append(events, batch);
      notify();
    },
    progress: (revision) => {
      progress = revision;
      notify();
    },
    failed: (error) => {
      failure = error;
      notify();
    },
  });
  return {
    take: (count) => until(() => (events.length >= count ? events.splice(0, count) : undefined)),
    progressTo: (revision) => until(() => (progress >= revision ? true : undefined)).then(() => undefined),
    failure: () => until(() => failure),
    cancel: () => watch.cancel(),
  };
}
