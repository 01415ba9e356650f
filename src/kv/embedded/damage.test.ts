// A store's file with bytes that somebody changed: what is read is what was written, or it is refused by name.
import { logTo } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type KeyValueStore, KvError } from '../kv.js';
import { openEmbeddedStore } from './embedded.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-damage-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));
const folder = path.join(root, 'store');
const file = path.join(folder, 'store.mdb');
const PAGE = 4096;
const OBJECTS = 120;
const FLIPS = 160;
let good = Buffer.alloc(0);
const written = new Map<string, string>();

/** Objects of all sizes, some that compress; history, free pages, an expiry. */
before(async () => {
  const kv = await openEmbeddedStore({ folder });
  const text = (index: number): string => `{"kind":"Secret","n":${index},"data":"${'ab'.repeat((index * 37) % 1500)}"}`;
  for (let index = 0; index < OBJECTS; index++) {
    const key = `/registry/secrets/default/object-${index}`;
    const { revision } = await kv.create(key, Buffer.from('first'), index === 7 ? { ttlSeconds: 9_000 } : {});
    await kv.update(key, revision, Buffer.from(text(index)));
    written.set(key, text(index));
  }
  await kv.compact(OBJECTS);
  const bytes = await kv.sizeBytes();
  await kv.close();
  // Zeros that are allocated ahead come after.
  good = fs.readFileSync(file).subarray(0, bytes);
});

interface Outcome {
  readonly refused: string | undefined;
  readonly named: readonly string[];
}

/** Fails when anything is read that was not written, or anything is missing without a word. */
async function readDamaged(bytes: Buffer, what: string): Promise<Outcome> {
  fs.writeFileSync(file, bytes);
  let kv: KeyValueStore;
  try {
    kv = await openEmbeddedStore({ folder });
  } catch (error) {
    assert.ok(error instanceof KvError && error.code === 'damaged', `${what}: ${String(error)}`);
    assert.match(error.message, /store|counter|keys|dictionary/, what);
    return { refused: error.message, named: [] };
  }
  try {
    const all = await kv.range({ start: '/', end: '0' }).catch((error: unknown) => error);
    const named = new Set(all instanceof KvError ? (all.details.records ?? []).map(({ key }) => key) : []);
    if (all instanceof KvError) assert.equal(all.code, 'damaged', what);
    else assert.equal((all as { kvs: readonly unknown[] }).kvs.length, OBJECTS, what);
    for (const [key, text] of written) {
      const kept = await kv.get(key).catch((error: unknown) => error);
      if (kept instanceof KvError) {
        assert.equal(kept.code, 'damaged', what);
        assert.ok(named.has(key), `${what}: ${key} is not named by a list`);
        assert.match(kept.message, new RegExp(key), what);
      } else assert.equal((kept as { value: Buffer } | undefined)?.value.toString(), text, `${what}: ${key}`);
    }
    const changes = await allChanges(kv, OBJECTS + 1, 2 * OBJECTS + 1).catch((error: unknown) => error);
    if (!(changes instanceof KvError)) assert.equal(changes, OBJECTS + 1, what);
    return { refused: undefined, named: [...named] };
  } finally {
    await kv.close();
  }
}

/** How many changes there are from a revision to another. */
async function allChanges(kv: KeyValueStore, from: number, endRevision: number): Promise<number> {
  let count = 0;
  for (let startRevision = from; startRevision <= endRevision;) {
    const page = await kv.changes?.({ prefix: '/', startRevision, endRevision, maxBytes: Infinity });
    assert.ok(page);
    count += page.events.length;
    startRevision = page.upTo + 1;
  }
  return count;
}

describe('a damaged file', () => {
  it('with one bit changed is noticed wherever that is, or does not matter', async () => {
    let refused = 0;
    let named = 0;
    for (let flip = 0; flip < FLIPS; flip++) {
      const at = (flip * 7_919 * 13 + 31) % good.length;
      const bad = Buffer.from(good);
      bad[at] = (bad[at] ?? 0) ^ (1 << (flip % 8));
      const outcome = await readDamaged(bad, `bit ${flip % 8} of byte ${at} of page ${Math.trunc(at / PAGE)}`);
      if (outcome.refused !== undefined) refused++;
      if (outcome.named.length > 0) named++;
    }
    assert.ok(refused > 5 && named > 5, `${refused} refused, ${named} named`);
  });

  it('with a page of zeros, or of which half is something else, is noticed', async () => {
    for (let page = 0; page < good.length / PAGE; page++) {
      const zeros = Buffer.from(good).fill(0, page * PAGE, (page + 1) * PAGE);
      await readDamaged(zeros, `zeros in page ${page}`);
      const garbage = Buffer.from(good);
      for (let at = page * PAGE + PAGE / 2; at < (page + 1) * PAGE; at++) garbage[at] = (at * 2_654_435_761) >>> 24;
      await readDamaged(garbage, `garbage in page ${page}`);
    }
  });

  it('of which only history is damaged loses that history, and says so', async () => {
    const bad = Buffer.from(good);
    // What the updates replaced is in the log only.
    for (let at = bad.indexOf('first'); at >= 0; at = bad.indexOf('first', at + 1)) bad[at] = 0x46;
    fs.writeFileSync(file, bad);
    const logged: string[] = [];
    const kv = await openEmbeddedStore({ folder, log: logTo((message) => logged.push(message)) });
    const newest = await kv.revision();
    await assert.rejects(allChanges(kv, OBJECTS + 1, newest), isCode('compacted'));
    await assert.rejects(kv.range({ start: '/', end: '0', revision: newest - 1 }), isCode('compacted'));
    assert.match(logged[0] ?? '', /store\.mdb: the record of revision \d+ is missing or damaged/);
    assert.equal((await kv.range({ start: '/', end: '0' })).count, OBJECTS);
    await kv.health({ timeoutMs: 1000 });
    await kv.close();
  });

  it('that cannot be walked while the server runs fails reads and health, with what to do', async () => {
    fs.writeFileSync(file, good);
    const logged: string[] = [];
    const kv = await openEmbeddedStore({ folder, log: logTo((message) => logged.push(message)) });
    // The engine has mapped the file, and sees what is written to it.
    const fd = fs.openSync(file, 'r+');
    fs.writeSync(fd, Buffer.alloc(good.length - 2 * PAGE), 0, good.length - 2 * PAGE, 2 * PAGE);
    fs.closeSync(fd);
    for (const failing of [
      () => kv.get('/registry/secrets/default/object-1'),
      () => kv.range({ start: '/', end: '0' }),
      () => kv.create('/new', Buffer.from('x')),
      () => kv.health({ timeoutMs: 1000 }),
    ]) {
      await assert.rejects(failing, (error: unknown) => {
        assert.ok(isCode('damaged')(error));
        assert.match(String(error), /store\.mdb is damaged: .*restore the folder from a backup/);
        assert.doesNotMatch(String(error), /MDB_/);
        return true;
      });
    }
    assert.equal(logged.length, 1);
    await kv.close();
  });
});

const isCode =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof KvError && error.code === code;
