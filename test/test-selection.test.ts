// Which files `tools/test.mjs --workers=N` runs: those that start servers, except where one process is said to be needed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-selection-'));
const FILES = {
  'support/worker-flags.ts': `export const workers = process.env['BINNACLE_WORKERS'];`,
  'support/server.ts': `export { workers } from './worker-flags.js';`,
  'starts.test.ts': `import { test } from 'node:test';
import { workers } from './support/server.js';
test('starts a server', () => console.log('workers: ' + workers));`,
  'metered.test.ts': `// workers: one, it meters a process
import { test } from 'node:test';
import { workers } from './support/server.js';
test('meters', () => console.log('metered: ' + workers));`,
  'parses.test.ts': `import { test } from 'node:test';
test('parses', () => console.log('parsed'));`,
};
before(() => {
  for (const [name, text] of Object.entries(FILES)) {
    const file = path.join(folder, 'test', name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `${text}\n`);
  }
});
after(() => fs.rmSync(folder, { recursive: true, force: true }));

function run(...args: readonly string[]): string {
  const { BINNACLE_ROOT: _root, BINNACLE_WORKERS: _workers, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const program = [path.join(root, 'tools', 'test.mjs'), ...args, 'test'];
  return spawnSync(process.execPath, program, { cwd: folder, env, encoding: 'utf8' }).stdout;
}

test('with several workers only the files that start servers run', { timeout: 120_000 }, () => {
  const text = run('--workers=2');
  assert.match(text, /^workers: 2$/m);
  assert.match(text, /^with one worker only: test\/metered\.test\.ts: it meters a process$/m);
  assert.match(text, /^1 passed, 0 failed$/m);
});

test('otherwise all of them run', { timeout: 120_000 }, () => {
  const text = run();
  assert.match(text, /^3 passed, 0 failed$/m);
  assert.doesNotMatch(text, /with one worker only/);
});
