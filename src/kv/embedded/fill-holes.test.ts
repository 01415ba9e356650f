import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, it } from 'node:test';
import { fillHoles } from './fill-holes.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-holes-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));

it('gives every page of a file its blocks, and changes no byte', () => {
  const file = path.join(root, 'sparse');
  const fd = fs.openSync(file, 'w');
  for (const page of [0, 7, 300]) fs.writeSync(fd, Buffer.alloc(4096, `page ${page}`), 0, 4096, page * 4096);
  fs.ftruncateSync(fd, 600 * 4096);
  fs.closeSync(fd);
  const bytes = fs.readFileSync(file);
  assert.ok(fs.statSync(file).blocks * 512 < bytes.length, 'the file has holes');
  fillHoles(file);
  assert.ok(fs.statSync(file).blocks * 512 >= bytes.length);
  assert.ok(fs.readFileSync(file).equals(bytes));
});
