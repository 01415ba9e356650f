import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { findProgram } from './envtest-folder.js';

it('finds programs in absolute folders of the path alone, and only what can be executed', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-path-'));
  try {
    for (const name of ['a', 'b']) fs.mkdirSync(path.join(folder, name));
    fs.writeFileSync(path.join(folder, 'a', 'kubectl'), '', { mode: 0o600 });
    fs.writeFileSync(path.join(folder, 'b', 'kubectl'), '', { mode: 0o700 });
    fs.mkdirSync(path.join(folder, 'a', 'etcd'));
    const searchPath = ['.', 'a', path.join(folder, 'a'), path.join(folder, 'b')].join(path.delimiter);
    // Root may read and write everything, and executes only what somebody may.
    assert.equal(findProgram('kubectl', searchPath), path.join(folder, 'b', 'kubectl'));
    assert.equal(findProgram('etcd', searchPath), undefined);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});
