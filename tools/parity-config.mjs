// Starts the server with recorded command lines and files, and counts what it makes of them as the recordings do.
//
//   node tools/parity-config.mjs --shared DIR [--area NAME]... [--show N] [--wait SECONDS]
//   node tools/parity-config.mjs --shared DIR --ratchet     compare the counts with test/parity/config.json
//   node tools/parity-config.mjs --shared DIR --raise       write the counts there
//   … --workers N                                           several worker processes
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { compareCounts, fallen, optionOf, passedOf, programOf } from './parity-counts.mjs';

const BASELINE = 'test/parity/config.json';
const args = process.argv.slice(2);
const shared = optionOf(args, '--shared');
if (shared === undefined) {
  console.error('usage: node tools/parity-config.mjs --shared DIR [--ratchet | --raise | --area NAME --show N]');
  process.exit(2);
}
const counts = await start(passedOf(args, ['--area', '--show', '--wait']));
const tried = args.includes('--ratchet') ? fallen(BASELINE, counts, args).map(({ name }) => name) : [];
if (tried.length > 0) {
  // A start that takes too long on a busy machine counts as another: it is tried once more, alone and with time.
  const short = [...new Set(tried.map((name) => name.split(',')[0]))];
  console.log(`once more: ${short.join(', ')}`);
  const again = await start([
    ...short.flatMap((area) => ['--area', area]),
    '--jobs',
    '1',
    '--wait',
    '20',
    '--show',
    '5',
  ]);
  for (const [name, count] of Object.entries(again)) counts[name] = Math.max(counts[name] ?? 0, count);
}
process.exitCode = compareCounts(BASELINE, counts, args, tried);

async function start(selection) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'parity-config-'));
  const report = path.join(folder, 'report.json');
  const tool = path.join(shared, 'bin', 'golden-config.mjs');
  // The tool kills the program and removes its folder, in which worker processes still write until they have noticed.
  const program = programOf(args, folder, `--data-dir="$(mktemp -d '${folder}/data-XXXXXX')"`);
  const toolArgs = ['--cmd', program, '--embedded', '--jobs', '2', '--json', report, ...selection];
  await new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [tool, ...toolArgs], { stdio: 'inherit' });
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`${tool} ended with ${code}`))));
  });
  const { areas } = JSON.parse(fs.readFileSync(report, 'utf8'));
  return Object.fromEntries(
    Object.entries(areas).flatMap(([area, { verdict, text }]) => [
      [`${area}, refused or accepted`, verdict],
      [`${area}, in words`, text],
    ]),
  );
}
