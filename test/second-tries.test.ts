// What passes only on a second try is forgiven once: the second time it fails, until its file changes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-second-tries-'));
const marker = path.join(folder, 'tried');
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Fails where there is no marker, and leaves one. */
const flaky = (comment: string): string => `// ${comment}
import fs from 'node:fs';
import { test } from 'node:test';
test('flaky', () => {
  if (fs.existsSync(${JSON.stringify(marker)})) return;
  fs.writeFileSync(${JSON.stringify(marker)}, '');
  throw new Error('for the first time');
});
`;

function run(): { readonly code: number | null; readonly text: string } {
  fs.rmSync(marker, { force: true });
  const { BINNACLE_ROOT: _root, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const program = [path.join(root, 'tools', 'test.mjs'), 'src'];
  const { status, stdout } = spawnSync(process.execPath, program, { cwd: folder, env, encoding: 'utf8' });
  return { code: status, text: stdout };
}

test('a test that needs a second try again fails', { timeout: 120_000 }, () => {
  const file = path.join(folder, 'src', 'flaky.test.ts');
  fs.mkdirSync(path.dirname(file));
  fs.writeFileSync(file, flaky('as it is'));
  const first = run();
  assert.equal(first.code, 0, first.text);
  assert.match(first.text, /passed only on a second try: src\/flaky\.test\.ts/);
  const second = run();
  assert.equal(second.code, 1, second.text);
  assert.match(second.text, /not for the first time, so it fails: src\/flaky\.test\.ts/);
  assert.match(second.text, /1 passed, 1 failed/);
  fs.writeFileSync(file, flaky('mended'));
  const changed = run();
  assert.equal(changed.code, 0, changed.text);
});
