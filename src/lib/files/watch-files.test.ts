// runs-on: every-node
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { pollUntil, settled } from '../testing/poll-until.js';
import { ReloadRequests } from './reload-requests.js';
import { watchFiles } from './watch-files.js';

const NEVER_MS = 3_600_000;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'watch-files-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

test('a log beside the file neither wakes its watcher nor keeps it from waking', async () => {
  const file = path.join(folder, 'config');
  const log = path.join(folder, 'log');
  fs.writeFileSync(file, 'one');
  let changes = 0;
  const stop = watchFiles([file], { pollMs: NEVER_MS, changed: () => changes++ });
  const writing = setInterval(() => fs.appendFileSync(log, 'a line\n'), 20);
  try {
    assert.equal(await settled(() => changes), 0);
    fs.writeFileSync(`${file}.new`, 'two');
    fs.renameSync(`${file}.new`, file);
    await pollUntil(() => changes > 0);
    assert.equal(await settled(() => changes), 1);
  } finally {
    clearInterval(writing);
    stop();
  }
});

test('the exchange of the link that a mounted volume is reached by is a change of its files', async () => {
  const volume = path.join(folder, 'volume');
  for (const time of ['..1', '..2']) fs.mkdirSync(path.join(volume, time), { recursive: true });
  fs.symlinkSync('..1', path.join(volume, '..data'));
  fs.symlinkSync(path.join('..data', 'config'), path.join(volume, 'config'));
  let changes = 0;
  const stop = watchFiles([path.join(volume, 'config')], { pollMs: NEVER_MS, changed: () => changes++ });
  try {
    fs.symlinkSync('..2', path.join(volume, '..data_tmp'));
    fs.renameSync(path.join(volume, '..data_tmp'), path.join(volume, '..data'));
    await pollUntil(() => changes > 0);
    assert.equal(await settled(() => changes), 1);
  } finally {
    stop();
  }
});

test('a request to reload is answered at once, until the watch ends', () => {
  const reloads = new ReloadRequests();
  let changes = 0;
  const stop = watchFiles([path.join(folder, 'config')], { pollMs: NEVER_MS, changed: () => changes++, reloads });
  reloads.request();
  assert.equal(changes, 1);
  stop();
  reloads.request();
  assert.equal(changes, 1);
});
