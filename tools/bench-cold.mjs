// How much memory a request touches that comes alone: cache lines of 64 bytes, of code and of data, and instructions, counted by
// an emulator. Between two requests of an ordinary day others use the processor's caches, so that each of these lines is
// fetched again, and that is most of what such a request costs (docs/lab/2026-11-19-cold-requests.md). Counts, not times: the
// machine may be busy, and a difference of one in a hundred shows.
//
//   node tools/bench-cold.mjs [--only lease,event] [--warm 600] [--rounds 5] [--json] [--stories FOLDER] [--functions 40]
//                             [--node-flags '…'] [--flags '…'] [--checkout FOLDER]
//
// --stories: a file for each request, with its functions in the order of their first run, and what each touched that nothing
// before had. --functions: those that touch most in a second of the day. Needs Debian's qemu-user, gcc and binutils.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Day } from './bench/day.mjs';
import { option, startBinnacle } from './bench/servers.mjs';
import { add, readTouched, storyOf } from './bench/touched-lines.mjs';

/** How many there are in a second of an ordinary day with 200 nodes, and what has to be done before one. */
const KINDS = {
  get: { rate: 5 },
  lease: { rate: 20 },
  event: { rate: 30 },
  create: { rate: 10 },
  bind: { rate: 10, after: ['create'] },
  'pod status': { rate: 20, after: ['create', 'bind'] },
  'node status': { rate: 3.3 },
  slice: { rate: 5 },
  delete: { rate: 10, after: ['create', 'bind'] },
};
/** The emulator takes about twenty times as long as the processor, and so do the clocks (slow-clock.c). */
const SLOWER = 20;
/** Code is compiled by how often it ran, sooner here: a second of the emulator is a long time. */
const WARM_FLAGS = ['--interrupt-budget=15000'];
const [BEGIN, END] = [1, 2];

const only = option('--only', Object.keys(KINDS).join(',')).split(',');
const warm = Number(option('--warm', '600'));
const rounds = Number(option('--rounds', '5'));
const stories = option('--stories');
const functions = Number(option('--functions', '0'));
const split = (text) => text.split(' ').filter(Boolean);
const tools = path.resolve(import.meta.dirname, 'bench');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-cold-'));
const mark = path.join(folder, 'mark');
fs.writeFileSync(mark, Buffer.alloc(4096));
if (stories !== undefined) fs.mkdirSync(stories, { recursive: true });
const storiesFolder = stories && path.resolve(stories);
process.chdir(option('--checkout', '.'));

const emulated = ['-plugin', `${built('cache-lines')},mark=${mark},out=${folder}`];
emulated.push('-E', `LD_PRELOAD=${built('slow-clock')}`, process.execPath);
emulated.push('--perf-basic-prof', '--no-compact-code-space', ...WARM_FLAGS, ...split(option('--node-flags', '')));
const server = await startBinnacle(folder, split(option('--flags', '')), 'qemu-x86_64', emulated);
const day = new Day(server, { nodes: 8, pods: 20, followers: 2, protobuf: !process.argv.includes('--json') });
const perSecond = new Map();
let total = 0;
try {
  await day.begin();
  await warmUp();
  console.log(`${''.padEnd(12)}    lines   instructions`);
  for (const kind of only) await measure(kind);
  if (only.length > 1) console.log(`${'a second'.padEnd(12)} ${String(Math.round(total)).padStart(8)}`);
  const most = [...perSecond].sort((a, b) => b[1] - a[1]).slice(0, functions);
  for (const [name, lines] of most) console.log(`${((lines / total) * 100).toFixed(2).padStart(6)} %  ${name}`);
} finally {
  server.child.kill('SIGKILL');
  fs.rmSync(`/tmp/perf-${server.child.pid}.map`, { force: true });
  fs.rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

function built(name) {
  const library = path.join(folder, `${name}.so`);
  execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', library, path.join(tools, `${name}.c`)]);
  return library;
}

/** All kinds by turns, as in a cluster. */
async function warmUp() {
  for (let n = 0; n < warm; n++)
    for (const kind of ['create', 'bind', 'pod status', 'event', 'lease', 'slice', 'delete', 'get', 'node status'])
      await day.work[kind](n);
}

async function measure(kind) {
  const { rate, after = [] } = KINDS[kind];
  const measured = [];
  for (let round = 0; round < rounds; round++) {
    const n = warm + round;
    for (const before of after) await day.work[before](`${kind.replace(' ', '')}-${n}`);
    await quiet();
    setMark(BEGIN);
    await day.work[kind](after.length > 0 || kind === 'create' ? `${kind.replace(' ', '')}-${n}` : n);
    await quiet();
    setMark(END);
    await ended();
    measured.push({ ...readTouched(folder, server.child.pid) });
    server.child.kill('SIGCONT');
  }
  measured.sort((a, b) => a.lines - b.lines);
  const { lines, instructions, rows } = measured[rounds >> 1];
  console.log(`${kind.padEnd(12)} ${String(lines).padStart(8)} ${String(instructions).padStart(14)}`);
  total += lines * rate;
  const story = storyOf(rows);
  for (const { name, lines: own, nativeLines } of story)
    add(perSecond, name.replace(/^JS:\W?/, ''), (own + nativeLines) * rate);
  if (storiesFolder !== undefined) fs.writeFileSync(path.join(storiesFolder, kind.replace(' ', '-')), listed(story));
}

function listed(story) {
  let sum = 0;
  return story
    .map(({ name, lines, nativeLines, native }) => {
      sum += lines + nativeLines;
      const called = native.length === 0 ? '' : ` | ${nativeLines}: ${native.join(' ')}`;
      return `${String(sum).padStart(6)} ${String(lines).padStart(4)} ${name}${called}\n`;
    })
    .join('');
}

/** Three milliseconds of the server's. */
function quiet() {
  return sleep(3 * SLOWER);
}

function setMark(value) {
  const file = fs.openSync(mark, 'r+');
  fs.writeSync(file, Buffer.of(value), 0, 1, 0);
  fs.closeSync(file);
}

/** Until the process has stopped. */
async function ended() {
  while (!/^State:\s+T/m.test(fs.readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))) await sleep(20);
}
