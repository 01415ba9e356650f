// What each request of an ordinary day costs the server: processor time, collections of V8 and writes, for a fixed count of
// each, one at a time or so many at once, while nodes watch.
//
//   node tools/bench-day.mjs [--nodes 100] [--pods 500] [--count 300] [--at-once 1] [--protobuf] [--only lease,event]
//                            [--node-flags '…'] [--checkout FOLDER]
//
// The machine may be busy: nothing here depends on how long anything takes. Each node has a connection with four watches
// (its pods, itself, services, endpoint slices), three followers watch everything.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Day, inParallel } from './bench/day.mjs';
import { option, startBinnacle } from './bench/servers.mjs';

const nodes = Number(option('--nodes', '100'));
const pods = Number(option('--pods', '500'));
const count = Number(option('--count', '300'));
const atOnce = Number(option('--at-once', '1'));
const only = option('--only', '').split(',').filter(Boolean);
const nodeFlags = option('--node-flags', '').split(' ').filter(Boolean);
const protobuf = process.argv.includes('--protobuf');
process.chdir(option('--checkout', '.'));

/** Before each is measured, so many are made. */
const WARMING = count;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-day-'));
const server = await startBinnacle(folder, [], process.execPath, ['--trace-gc', ...nodeFlags]);
const collections = { all: 0, young: 0 };
server.child.stdout.on('data', (text) => {
  collections.all += String(text).split('Mark-Compact').length - 1;
  collections.young += String(text).split('Scavenge').length - 1;
});
let day;
try {
  day = new Day(server, { nodes, pods, protobuf });
  await day.begin();
  const names = Object.keys(day.work);
  console.log(
    `${'one of'.padEnd(14)} main thread, µs   other threads, µs   writes   events   full collections, young ones (in ${count})`,
  );
  for (const name of names.filter((each) => only.length === 0 || only.includes(each))) await measure(name);
  const { external, heap } = memory();
  console.log(`at last ${heap} MiB resident, ${external} MiB of it anonymous`);
} finally {
  server.child.kill('SIGKILL');
  fs.rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

async function measure(name) {
  const work = day.work[name];
  await inParallel(WARMING, (i) => work(count + i), atOnce);
  await day.settle();
  const before = look();
  await inParallel(count, work, atOnce);
  await day.settle();
  const after = look();
  const each = (what, digits) => ((after[what] - before[what]) / count).toFixed(digits);
  const columns = [each('mainUs', 0).padStart(15), each('otherUs', 0).padStart(19), each('writes', 1).padStart(8)];
  columns.push(each('events', 1).padStart(8), `  ${after.all - before.all}, ${after.young - before.young}`);
  console.log(name.padEnd(14), ...columns);
}

function look() {
  const { pid } = server.child;
  const us = (task) => Number(fs.readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  const others = fs.readdirSync(`/proc/${pid}/task`).filter((task) => task !== String(pid));
  const writes = Number(/^syscw: (\d+)$/m.exec(fs.readFileSync(`/proc/${pid}/io`, 'utf8'))[1]);
  return {
    mainUs: us(pid),
    otherUs: others.reduce((sum, task) => sum + us(task), 0),
    writes,
    events: day.events,
    ...collections,
  };
}

function memory() {
  const text = fs.readFileSync(`/proc/${server.child.pid}/status`, 'utf8');
  const mib = (name) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)[1]) / 1024);
  return { heap: mib('VmRSS'), external: mib('RssAnon') };
}
