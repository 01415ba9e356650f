// Compiles the test files under the given folders with esbuild and runs them with node:test.
//
//   node tools/test.mjs src            every src/**/*.test.ts
//   node tools/test.mjs src/kv test    those folders or files only
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
const compiled = files.map((f) => path.join(outdir, f.replace(/\.ts$/, '.cjs')));
const child = spawn(
  process.execPath,
  ['--enable-source-maps', '--test', `--test-concurrency=${os.availableParallelism()}`, ...passed, ...compiled],
  { stdio: 'inherit', env: { BINNACLE_ROOT: process.cwd(), ...process.env } },
);
child.on('close', (code) => {
  fs.rmSync(outdir, { recursive: true, force: true });
  process.exit(code ?? 1);
});
