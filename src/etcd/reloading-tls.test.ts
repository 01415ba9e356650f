import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { logTo } from '../lib/testing/test-log.js';
import { reloadingTls } from './reloading-tls.js';

test('what is wrong with renewed files is logged once, and again when it comes back', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-tls-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const caFile = path.join(folder, 'ca.crt');
  fs.writeFileSync(caFile, '');
  const lines: string[] = [];
  let look = (): void => assert.fail('nobody looks');
  const tls = reloadingTls(
    { certFile: caFile, keyFile: caFile, caFile: '' },
    {},
    logTo((line) => void lines.push(line)),
    (_, { changed }) => {
      look = changed;
      return () => undefined;
    },
  );
  tls.follow?.(() => assert.fail('there is nothing new to use'));
  fs.rmSync(caFile);
  look();
  look();
  assert.equal(lines.length, 1);
  fs.writeFileSync(caFile, '');
  look();
  fs.rmSync(caFile);
  look();
  assert.equal(lines.length, 2);
});
