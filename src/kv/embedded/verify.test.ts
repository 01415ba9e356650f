import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { openEmbeddedStore } from './embedded.js';
import { verifyStore } from './verify.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-verify-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));

async function written(name: string): Promise<string> {
  const folder = path.join(root, name);
  const kv = await openEmbeddedStore({ folder });
  for (let i = 0; i < 300; i++)
    await kv.create(`/a/${i}`, Buffer.from(`{"value of":"key ${i}"}`), { ttlSeconds: 3600 + i });
  for (let i = 0; i < 50; i++) await kv.update(`/a/${i}`, i + 2, Buffer.alloc(9_000, `${i}`));
  for (let i = 50; i < 60; i++) await kv.delete(`/a/${i}`, i + 2);
  await kv.compact(20);
  await kv.close();
  return folder;
}

function change(folder: string, text: string): void {
  const file = path.join(folder, 'store.mdb');
  const bytes = fs.readFileSync(file);
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes[at] = 0x21;
  fs.writeFileSync(file, bytes);
}

describe('verifying a data folder', () => {
  it('reads everything, and changes nothing', async () => {
    const folder = await written('sound');
    const before = fs.readFileSync(path.join(folder, 'store.mdb'));
    const keys: string[] = [];
    const report = await verifyStore(folder, ({ key }) => keys.push(key));
    assert.deepEqual(report, {
      revision: 361,
      compacted: 20,
      keys: 290,
      changes: 341,
      damaged: [],
      faults: [],
      isUnchecked: false,
    });
    assert.equal(keys.length, 290);
    assert.ok(fs.readFileSync(path.join(folder, 'store.mdb')).equals(before));
  });

  it('names what is damaged, in the state and in history', async () => {
    const folder = await written('damaged');
    change(folder, 'key 123"');
    // Replaced by an update, and so in history only.
    change(folder, 'key 33"');
    const { damaged, faults } = await verifyStore(folder);
    assert.deepEqual(damaged, [{ key: '/a/123', revision: 125 }]);
    assert.deepEqual(faults, ['history: change 335 is damaged']);
  });

  it('says what it cannot look at', async () => {
    await assert.rejects(verifyStore(path.join(root, 'none')), /there is no store in .*none/);
    const folder = await written('open');
    const kv = await openEmbeddedStore({ folder });
    await assert.rejects(verifyStore(folder), { code: 'locked' });
    await kv.close();
    fs.truncateSync(path.join(folder, 'store.mdb'), 40_960);
    await assert.rejects(verifyStore(folder), { code: 'damaged' });
  });
});

describe('a backup', () => {
  it('of a store that is written to is one state of it, in a folder that a server starts with', async () => {
    const kv = await openEmbeddedStore({ folder: path.join(root, 'busy') });
    let isOver = false;
    // Both keys change in one commit or another, the first before the second.
    const write = async (): Promise<void> => {
      const at = [0, 0];
      for (let round = 0; !isOver; round++) {
        for (const key of [0, 1]) {
          const value = Buffer.alloc(3_000, `${round},`);
          const before = at[key] ?? 0;
          const done = before === 0 ? kv.create(`/k/${key}`, value) : kv.update(`/k/${key}`, before, value);
          at[key] = (await done).revision;
        }
      }
    };
    const writing = write();
    const folder = path.join(root, 'copy');
    while ((await kv.revision()) < 50) await new Promise((resolve) => setImmediate(resolve));
    const from = await kv.revision();
    await kv.backup?.(folder);
    const to = await kv.revision();
    isOver = true;
    await writing;
    await kv.close();
    const report = await verifyStore(folder);
    assert.deepEqual([report.damaged, report.faults, report.keys], [[], [], 2]);
    assert.ok(report.revision >= from && report.revision <= to, `${from} ≤ ${report.revision} ≤ ${to}`);
    assert.equal(fs.statSync(path.join(folder, 'store.mdb')).mode & 0o777, 0o600);
    const copy = await openEmbeddedStore({ folder });
    assert.equal(await copy.revision(), report.revision);
    await assert.rejects(async () => copy.backup?.(folder), /is not empty/);
    await copy.close();
  });
});
