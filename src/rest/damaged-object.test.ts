import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { configMaps } from '../apis/core/configmap/definition.js';
import { openEmbeddedStore } from '../kv/embedded/embedded.js';
import type { KindDefinition } from '../registry/kind.js';
import { TestApi } from '../server/testing/test-api.js';

const MAPS = '/api/v1/namespaces/n/configmaps';

/** The engine has mapped the file, and sees what is written to it. */
function changeInPlace(file: string, text: string): void {
  const bytes = fs.readFileSync(file);
  const fd = fs.openSync(file, 'r+');
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) fs.writeSync(fd, '!', at);
  fs.closeSync(fd);
}

test('an object that is damaged after it was cached is refused by name, alone and in a list', async (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-damaged-object-'));
  const kv = await openEmbeddedStore({ folder });
  context.after(async () => {
    await kv.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const api = new TestApi({ kinds: [configMaps as unknown as KindDefinition], kv });
  for (const name of ['good', 'bad']) {
    await api.post(MAPS, { metadata: { name }, data: { text: `${name} words` } });
  }
  // The bytes of a write stay in memory until all watchers have the event.
  for (let tick = 0; tick < 3; tick++) await new Promise((resolve) => setImmediate(resolve));
  changeInPlace(path.join(folder, 'store.mdb'), 'bad words');
  for (const target of [`${MAPS}/bad`, MAPS]) {
    const { status, body } = await api.get(target);
    assert.equal(status, 500);
    assert.match(
      body.message,
      /the checksum of the value stored for .*\/configmaps\/n\/bad at revision \d+ does not match/,
    );
  }
  assert.equal((await api.get(`${MAPS}/good`)).status, 200);
});
