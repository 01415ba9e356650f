import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { backupBytes, compressor, openBackup } from './backup-file.js';
import type { Snapshot, SnapshotEntry } from './snapshot.js';

const entry = (key: string, value: Buffer): SnapshotEntry => ({
  key,
  name: Buffer.from(key),
  value,
  createRevision: 2 ** 40 + 1,
  modRevision: 2 ** 40 + 2,
  version: 3,
  expiresAtMs: 1_800_000_000_000,
});

const ENTRIES = [
  entry('/a', Buffer.alloc(0)),
  entry('/b', Buffer.from('value of b')),
  entry('/ü', Buffer.alloc(2_000, 7)),
];

const snapshotOf = (entries: readonly SnapshotEntry[], keys = entries.length): Snapshot => ({
  revision: 2 ** 40 + 3,
  keys,
  async *pages() {
    yield entries.slice(0, 1);
    yield entries.slice(1);
  },
  close: async () => undefined,
});

const plainBytes = (snapshot: Snapshot): Promise<Buffer> => buffer(Readable.from(backupBytes(snapshot)));

/** `chunk`: how many bytes of the file come at a time. */
async function readBack(file: Buffer, chunk = 10_000): Promise<{ revision: number; entries: SnapshotEntry[] }> {
  const pieces = Array.from({ length: Math.ceil(file.length / chunk) }, (_, i) =>
    file.subarray(i * chunk, (i + 1) * chunk),
  );
  const snapshot = await openBackup(Readable.from(pieces), 'the.file');
  const entries: SnapshotEntry[] = [];
  for await (const page of snapshot.pages()) entries.push(...page);
  await snapshot.close();
  return { revision: snapshot.revision, entries };
}

test('a backup reads as it was written, in whatever pieces it comes', async () => {
  const file = await buffer(Readable.from(backupBytes(snapshotOf(ENTRIES))).pipe(compressor()));
  for (const chunk of [1, 7, 10_000]) {
    assert.deepEqual(await readBack(file, chunk), { revision: 2 ** 40 + 3, entries: ENTRIES });
  }
});

test('no change of a byte and no cut goes unnoticed', async () => {
  const plain = await plainBytes(snapshotOf(ENTRIES));
  for (let at = 0; at < plain.length; at += at < 300 || at > plain.length - 60 ? 1 : 97) {
    const changed = Buffer.from(plain);
    changed[at] = (changed[at] ?? 0) ^ 0x04;
    await assert.rejects(readBack(zlib.gzipSync(changed)), { name: 'Error' }, `byte ${at}`);
    await assert.rejects(readBack(zlib.gzipSync(plain.subarray(0, at))), /ends too early|no backup/, `cut at ${at}`);
  }
  await assert.rejects(readBack(zlib.gzipSync(Buffer.concat([plain, Buffer.of(0)]))), /something follows its end/);
  const file = zlib.gzipSync(plain);
  for (let at = 0; at < file.length; at += 13) {
    await assert.rejects(readBack(file.subarray(0, at)), { code: 'damaged' }, `compressed, cut at ${at}`);
  }
});

test('a source that ends with other keys than it announced makes no backup', async () => {
  await assert.rejects(plainBytes(snapshotOf(ENTRIES, 4)), /has 3 keys, and says that it has 4/);
});

test('a backup of a newer version is refused by its number', async () => {
  const newer = zlib.gzipSync('{"format":"binnacle-backup","version":2,"revision":5,"keys":0}\n');
  await assert.rejects(readBack(newer), { code: 'newer-format', message: /version 2, written by a newer release/ });
});

test('a value that says it is longer than any takes no memory', async () => {
  const head = Buffer.alloc(31, 0xff);
  head[0] = 1;
  const file = zlib.gzipSync(
    Buffer.concat([Buffer.from('{"format":"binnacle-backup","version":1,"revision":5,"keys":1}\n'), head]),
  );
  await assert.rejects(readBack(file), /a value is longer than any/);
});
