// runs-on: every-node
// The examples, each as the project that it is: in a folder of its own, with the built package among its dependencies.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { build } from 'esbuild';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';

const root = path.resolve(process.env['BINNACLE_ROOT'] ?? '.');
const EXAMPLES = ['node-test', 'vitest', 'greeting-operator'];

describe('the examples', { timeout: 300_000 }, () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-examples-'));
  after(() => fs.rmSync(home, { recursive: true, force: true }));

  for (const name of EXAMPLES) {
    it(`${name} passes`, async () => {
      const folder = path.join(home, name);
      await copyExample(name, folder);
      const { code, out } = await runTests(folder);
      assert.equal(code, 0, out);
      assert.match(out, /^# pass [1-9]|Tests +[1-9]\d* passed/m);
    });
  }

  it('are all run here', () => {
    const folders = fs.readdirSync(path.join(root, 'examples'), { withFileTypes: true });
    const names = folders.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    assert.deepEqual(names.sort(), EXAMPLES.toSorted());
  });
});

/** TypeScript becomes JavaScript; types are checked with the rest of the repository. */
async function copyExample(name: string, folder: string): Promise<void> {
  const source = path.join(root, 'examples', name);
  fs.cpSync(source, folder, { recursive: true });
  const typed = fs.readdirSync(source).filter((file) => file.endsWith('.ts'));
  const entryPoints = typed.map((file) => path.join(source, file));
  const needs = Object.keys(packageOf(source).devDependencies);
  // Vitest reads TypeScript by itself.
  if (typed.length > 0 && !needs.includes('vitest')) {
    await build({ entryPoints, outdir: folder, format: 'esm', target: 'node20' });
  }
  for (const need of needs) {
    const link = path.join(folder, 'node_modules', need);
    fs.mkdirSync(path.dirname(link), { recursive: true });
    fs.symlinkSync(need === 'binnacle' ? root : path.join(root, 'node_modules', need), link);
  }
}

interface ExamplePackage {
  readonly scripts: { readonly test: string };
  readonly devDependencies: Readonly<Record<string, string>>;
}

const packageOf = (folder: string): ExamplePackage =>
  JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')) as ExamplePackage;

/** What the script of the example runs, without npm and what compiles its TypeScript. */
const commandOf = (script: string): readonly string[] =>
  script === 'vitest run'
    ? [path.join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run']
    : ['--test', '--test-reporter=tap'];

function runTests(folder: string): Promise<{ code: number; out: string }> {
  // This process is one of node:test's own, and says so to those that it starts.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  return new Promise((resolve) => {
    const command = commandOf(packageOf(folder).scripts.test);
    execFile(process.execPath, command, { cwd: folder, env: { ...env, NO_COLOR: '1' } }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out: stdout + stderr });
    });
  });
}
