// Starts the server with recorded command lines and files, and counts what it makes of them as the recordings do.
//
//   node tools/parity-config.mjs --shared DIR [--area NAME]... [--show N]
//   node tools/parity-config.mjs --shared DIR --ratchet     compare the counts with test/parity/config.json
//   node tools/parity-config.mjs --shared DIR --raise       write the counts there
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { compareCounts, optionOf, passedOf } from './parity-counts.mjs';

const BASELINE = 'test/parity/config.json';
const args = process.argv.slice(2);
const shared = optionOf(args, '--shared');
if (shared === undefined) {
  console.error('usage: node tools/parity-config.mjs --shared DIR [--ratchet | --raise | --area NAME --show N]');
  process.exit(2);
}
const report = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'parity-config-')), 'report.json');
const tool = path.join(shared, 'bin', 'golden-config.mjs');
const passed = passedOf(args, ['--area', '--show']);
const child = spawn(
  process.execPath,
  [tool, '--cmd', 'bin/binnacle', '--embedded', '--jobs', '2', '--json', report, ...passed],
  { stdio: 'inherit' },
);
child.on('close', (code) => {
  if (code !== 0) process.exit(code ?? 1);
  const { areas } = JSON.parse(fs.readFileSync(report, 'utf8'));
  const counts = Object.entries(areas).flatMap(([area, { verdict, text }]) => [
    [`${area}, refused or accepted`, verdict],
    [`${area}, in words`, text],
  ]);
  process.exitCode = compareCounts(BASELINE, Object.fromEntries(counts), args);
});
