// Compiles the test files under the given folders with esbuild and runs them with node:test.
//
//   node tools/test.mjs src            every src/**/*.test.ts
//   node tools/test.mjs src/kv test    those folders or files only
//
// What failed is said once more at the end. A few files that failed are run a second time with nothing beside them: a
// machine that was taken away for a while passes then, and a defect fails again. What passed only then is named.
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { bundleOptions } from './bundle.mjs';

const roots = process.argv.slice(2).filter((a) => !a.startsWith('--'));
const passed = process.argv.slice(2).filter((a) => a.startsWith('--'));
const files = roots.flatMap((root) =>
  fs.statSync(root).isFile()
    ? [root]
    : fs
        .readdirSync(root, { recursive: true })
        .map((f) => path.join(root, f))
        .filter((f) => f.endsWith('.test.ts')),
);
if (files.length === 0) {
  console.error(`no test files under ${roots.join(' ')}`);
  process.exit(1);
}
// The compiled tests lie inside the repository, so that they resolve node_modules.
fs.mkdirSync('.cache', { recursive: true });
const outdir = fs.mkdtempSync(path.join('.cache', 'test-'));
await build({
  ...bundleOptions,
  entryPoints: files,
  outdir,
  outbase: '.',
  external: [...bundleOptions.external, 'esbuild', 'protobufjs', 'fast-check', 'oidc-provider'],
  sourcemap: 'inline',
});
const compiled = new Map(files.map((f) => [f, path.join(outdir, f.replace(/\.ts$/, '.cjs'))]));
const SECOND_TRIES = 3;

const failed = await run(files, os.availableParallelism());
const fewFailed = failed.length > 0 && failed.length <= SECOND_TRIES;
if (fewFailed) console.log(`\nonce more, with nothing beside them: ${failed.join(' ')}\n`);
const failedAgain = fewFailed ? await run(failed, 1) : failed;
for (const file of failed) if (!failedAgain.includes(file)) console.log(`passed only alone: ${file}`);
fs.rmSync(outdir, { recursive: true, force: true });
process.exit(failedAgain.length > 0 ? 1 : 0);

/** Those of the files that hold a test that failed; all of them where the run ended in another way. */
async function run(testFiles, concurrency) {
  const list = path.join(outdir, 'failed');
  const reporters = [
    ['spec', 'stdout'],
    ['./tools/failed-files.mjs', list],
  ].flatMap(([reporter, to]) => [`--test-reporter=${reporter}`, `--test-reporter-destination=${to}`]);
  const child = spawn(
    process.execPath,
    [
      '--enable-source-maps',
      '--test',
      `--test-concurrency=${concurrency}`,
      ...reporters,
      ...passed,
      ...testFiles.map((f) => compiled.get(f)),
    ],
    { stdio: 'inherit', env: { BINNACLE_ROOT: process.cwd(), ...process.env } },
  );
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code === 0) return [];
  const said = fs.readFileSync(list, 'utf8');
  const named = testFiles.filter((f) => said.includes(`/${f}\n`) || said.includes(`/${compiled.get(f)}\n`));
  return named.length > 0 ? named : testFiles;
}
