// Data folders that earlier builds wrote (fixtures/format-N.mdb.gz, each by a build of its time) open in this one.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { openEmbeddedStore } from './embedded.js';
import { verifyStore } from './verify.js';

const FIXTURES = path.join(process.env['BINNACLE_ROOT'] ?? process.cwd(), 'src', 'kv', 'embedded', 'fixtures');
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-formats-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));

/** A folder as the build of a format left it. */
function folderOf(format: number, file = format): string {
  const folder = path.join(root, `format-${format}`);
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'FORMAT'), `binnacle-store ${format}\n`);
  const bytes = fs.readFileSync(path.join(FIXTURES, `format-${file}.mdb.gz`));
  fs.writeFileSync(path.join(folder, 'store.mdb'), gunzipSync(bytes));
  return folder;
}

const formats = fs.readdirSync(FIXTURES).map((name) => Number(/^format-(\d+)\./.exec(name)?.[1]));
const newest = Math.max(...formats);

for (const format of formats) {
  test(`a folder of format ${format} opens with all it has, and can be written to and verified`, async () => {
    const folder = folderOf(format);
    const kv = await openEmbeddedStore({ folder, historyMs: 0 });
    assert.equal(await kv.revision(), 23);
    const { kvs } = await kv.range({ start: '/', end: '0' });
    assert.equal(kvs.length, 19);
    const names = kvs.map(
      ({ value }) => (JSON.parse(value.toString()) as { metadata: { name: string } }).metadata.name,
    );
    assert.deepEqual(
      names.map((name) => `/registry/configmaps/default/${name}`),
      kvs.map(({ key }) => key),
    );
    const past = await kv.get('/registry/configmaps/default/map-3', { revision: 21 });
    assert.match(past?.value.toString() ?? '', /"i":"3"/);
    assert.equal((await kv.create('/registry/new', Buffer.from('{}'))).revision, 24);
    await kv.close();
    assert.equal(fs.readFileSync(path.join(folder, 'FORMAT'), 'utf8'), `binnacle-store ${newest}\n`);
    const report = await verifyStore(folder);
    assert.deepEqual([report.keys, report.damaged, report.faults], [20, [], []]);
  });
}

test('every format has a fixture, and a newer one is refused with what to do', async () => {
  assert.deepEqual(
    [...formats].sort((a, b) => a - b),
    Array.from({ length: newest }, (_, i) => i + 1),
  );
  const folder = folderOf(newest + 1, newest);
  const before = fs.readFileSync(path.join(folder, 'store.mdb'));
  await assert.rejects(openEmbeddedStore({ folder }), {
    code: 'newer-format',
    message: new RegExp(
      `has format ${newest + 1}, .*reads up to format ${newest}\\. Start the newer version, or restore`,
    ),
  });
  assert.ok(fs.readFileSync(path.join(folder, 'store.mdb')).equals(before));
});
