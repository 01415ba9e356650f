import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, it } from 'node:test';
import { Allocation } from './allocation.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-allocation-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));

const PAGE = 4096;
const KIB = 1024;
const MIB = 1024 * KIB;
const plenty = (): number => 1024 * MIB;

/** Two meta pages of the engine's, the newer of which says so many pages. */
function metaPages(pages: number): Buffer {
  const bytes = Buffer.alloc(2 * PAGE);
  for (const [at, transaction] of [
    [0, 1],
    [PAGE, 2],
  ] as const) {
    bytes.writeUInt32LE(0xbeefc0de, at + 0x18);
    bytes.writeUInt32LE(PAGE, at + 0x30);
    bytes.writeBigUInt64LE(BigInt(pages - 1), at + 0x90);
    bytes.writeBigUInt64LE(BigInt(transaction), at + 0x98);
  }
  return bytes;
}

/** A file of so many pages on a disk with so much room. */
function allocationOn(name: string, pages: number, room: number) {
  const file = path.join(root, name);
  const used = Buffer.alloc(pages * PAGE, 'p');
  metaPages(pages).copy(used);
  fs.writeFileSync(file, used);
  const disk = { room, file };
  const allocation = new Allocation(file, async (fd, from, bytes) => {
    const written = Math.min(bytes, disk.room);
    fs.writeSync(fd, Buffer.alloc(written), 0, written, from);
    disk.room -= written;
    return written;
  });
  after(() => allocation.close());
  return { disk, allocation };
}

const endOf = (file: string): number => fs.statSync(file).size;

it('gives a commit all that it can need before it begins, and some for the next', async () => {
  const { disk, allocation } = allocationOn('plenty', 100, 1024 * MIB);
  assert.equal(await allocation.take({ bytes: 3 * MIB, adds: true }, plenty), true);
  const end = endOf(disk.file);
  assert.ok(end >= 100 * PAGE + 4 * MIB, `${end}`);
  assert.equal(allocation.take({ bytes: 0, adds: false }, plenty), true, 'without a look at the disk');
  assert.equal(endOf(disk.file), end);
  assert.ok(
    fs
      .readFileSync(disk.file)
      .subarray(2 * PAGE, 100 * PAGE)
      .every((byte) => byte === 0x70),
    'pages stay',
  );
});

it('refuses what adds where there is no room for it, and leaves enough for deletes', async () => {
  const { allocation } = allocationOn('full', 100, 2 * MIB);
  assert.equal(await allocation.take({ bytes: 4 * MIB, adds: true }, plenty), false);
  assert.equal(await allocation.take({ bytes: 700 * KIB, adds: true }, plenty), false);
  for (let i = 0; i < 5; i++) assert.equal(await allocation.take({ bytes: 400 * KIB, adds: true }, () => 0), true);
  assert.equal(await allocation.take({ bytes: 900 * KIB, adds: false }, () => 0), true);
});

it('counts anew from the last page, which mostly moved by less', async () => {
  const { disk, allocation } = allocationOn('anew', 100, 4 * MIB);
  assert.equal(await allocation.take({ bytes: 2 * MIB, adds: true }, () => 0), true);
  const fd = fs.openSync(disk.file, 'r+');
  fs.writeSync(fd, metaPages(110), 0, 2 * PAGE, 0);
  fs.closeSync(fd);
  assert.equal(await allocation.take({ bytes: 2 * MIB, adds: true }, () => 0), true);
  assert.ok(endOf(disk.file) < 110 * PAGE + 4 * MIB);
});

it('never writes zeros over a page, even where the engine grew the file itself', async () => {
  const { disk, allocation } = allocationOn('grown', 100, 1024 * MIB);
  const grown = Buffer.alloc(900 * PAGE, 'q');
  metaPages(900).copy(grown);
  fs.writeFileSync(disk.file, grown);
  assert.equal(await allocation.take({ bytes: 100, adds: true }, () => 0), true);
  assert.ok(
    fs
      .readFileSync(disk.file)
      .subarray(2 * PAGE, 900 * PAGE)
      .every((byte) => byte === 0x71),
  );
});
