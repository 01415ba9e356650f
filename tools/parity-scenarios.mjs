// Plays recorded scenarios (the server with its flags, and the world around it) and counts the steps that agree.
//
//   node tools/parity-scenarios.mjs --shared DIR --ratchet [--jobs N]    those of test/parity/scenarios.json, compared
//   … --workers N                                                        with several worker processes; scenarios-workers.json
//                                                                        beside it has the counts that differ by design
//   … --only TEXT                                                        only those with that in their names
//   node tools/parity-scenarios.mjs --shared DIR --raise REPORT...       writes there the output of runs of scenarios.mjs
//
// A scenario waits for things that take their time. One that falls short beside another is played again, alone.
// REPORT is the output of `scenarios.mjs`; the lowest count of several counts.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { baselineOf, compareCounts, fallen, optionOf, programOf } from './parity-counts.mjs';

const BASELINE = 'test/parity/scenarios.json';
const LINE = /^[✓✗] (\S+): (\d+) of \d+ steps/gmu;
/** How often one that falls short is played again. */
const REPEATS = 2;
const ETCD = path.resolve('.cache/bin/etcd-3.5');

const args = process.argv.slice(2);
const shared = optionOf(args, '--shared');
if (shared === undefined) {
  console.error('usage: node tools/parity-scenarios.mjs --shared DIR (--ratchet | --raise REPORT...)');
  process.exit(2);
}
if (args.includes('--raise')) {
  const lowest = {};
  for (const file of args.slice(args.indexOf('--raise') + 1)) {
    for (const [name, agree] of Object.entries(countsIn(fs.readFileSync(file, 'utf8')))) {
      if (agree > 0) lowest[name] = Math.min(lowest[name] ?? Infinity, agree);
    }
  }
  compareCounts(BASELINE, lowest, ['--raise']);
} else {
  const names = Object.keys(baselineOf(BASELINE, args));
  const counts = await play(names, optionOf(args, '--jobs') ?? '2');
  const tried = fallen(BASELINE, counts, args).map(({ name }) => name);
  for (let attempt = 0; attempt < REPEATS; attempt++) {
    const short = fallen(BASELINE, counts, args).map(({ name }) => name);
    if (short.length === 0) break;
    console.log(`once more, alone: ${short.join(', ')}`);
    const again = await play(short, '1');
    for (const name of short) counts[name] = Math.max(counts[name] ?? 0, again[name] ?? 0);
  }
  process.exitCode = compareCounts(BASELINE, counts, args, tried);
}

/** Links to the scenarios wanted, so that only they are found. */
async function play(names, jobs) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'parity-scenarios-'));
  for (const name of names) {
    const [area, file] = name.split('/');
    fs.mkdirSync(path.join(dir, area), { recursive: true });
    for (const ending of ['.mjs', '.json']) {
      const from = path.resolve(shared, 'scenarios', area, file + ending);
      if (fs.existsSync(from)) fs.symlinkSync(from, path.join(dir, area, file + ending));
    }
  }
  const bin = fs.mkdtempSync(path.join(os.tmpdir(), 'parity-program-'));
  const tool = path.join(shared, 'bin', 'scenarios.mjs');
  const etcd = fs.existsSync(ETCD) ? ['--etcd', ETCD] : [];
  let text = '';
  await new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [tool, '--cmd', programOf(args, bin), '--dir', dir, '--jobs', jobs, '--show', '3', ...etcd],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    child.stdout.on('data', (chunk) => {
      text += chunk;
      process.stdout.write(chunk);
    });
    child.on('error', reject);
    child.on('close', resolve);
  });
  for (const folder of [dir, bin]) fs.rmSync(folder, { recursive: true, force: true });
  return countsIn(text);
}

function countsIn(text) {
  return Object.fromEntries(Array.from(text.matchAll(LINE), ([, name, agree]) => [name, Number(agree)]));
}
