import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { openEmbeddedStore } from './embedded.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-private-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));

const modeOf = (file: string): string => (fs.statSync(file).mode & 0o7777).toString(8);
const modesIn = (folder: string): string[] =>
  fs.readdirSync(folder).map((name) => `${name} ${modeOf(path.join(folder, name))}`);

function folderWith(name: string, mode: number): string {
  const folder = path.join(root, name);
  fs.mkdirSync(folder);
  fs.chmodSync(folder, mode);
  return folder;
}

describe('data folder', () => {
  it('is for its owner only, with all that is in it, also when it was there already', async () => {
    for (const folder of [path.join(root, 'new'), folderWith('there', 0o755)]) {
      const kv = await openEmbeddedStore({ folder });
      await kv.create('/a', Buffer.from('secret'));
      assert.equal(modeOf(folder), '700');
      assert.deepEqual(modesIn(folder), ['FORMAT 600', 'lock 600', 'store.mdb 600', 'store.mdb-lock 600']);
      await kv.close();
    }
  });

  it('removes permissions that an earlier build left to other users', async () => {
    const folder = path.join(root, 'earlier');
    await (await openEmbeddedStore({ folder })).close();
    fs.chmodSync(folder, 0o755);
    for (const name of fs.readdirSync(folder)) fs.chmodSync(path.join(folder, name), 0o644);
    const kv = await openEmbeddedStore({ folder });
    assert.equal(modeOf(folder), '700');
    assert.deepEqual(
      modesIn(folder).filter((text) => text.startsWith('store')),
      ['store.mdb 600', 'store.mdb-lock 600'],
    );
    await kv.close();
  });

  it('leaves a folder open that others use as well, and closes its files', async () => {
    const shared = folderWith('shared', 0o777 | 0o1000);
    const home = folderWith('home', 0o755);
    fs.writeFileSync(path.join(home, 'letter.txt'), 'not ours', { mode: 0o644 });
    for (const folder of [shared, home]) {
      const before = modeOf(folder);
      const kv = await openEmbeddedStore({ folder });
      assert.equal(modeOf(folder), before);
      assert.equal(modeOf(path.join(folder, 'store.mdb')), '600');
      await kv.close();
    }
    assert.equal(modeOf(path.join(home, 'letter.txt')), '644');
  });
});
