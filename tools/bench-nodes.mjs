// What a get costs on each Node.js that Binnacle is held to, alternately on one machine.
//
//   node tools/bench-nodes.mjs [--nodes 20,22,24] [--gets 60000] [--rounds 8] [--warming 250000]
//
// Needs h2load (Debian package nghttp2-client); tools/fetch-node.mjs brings the Nodes. While a server answers, its
// processor time and the bytes it has written are looked at every few milliseconds. Of these slices the quickest tenth and
// the median are shown: work beside it on the machine makes every slice of every Node half as expensive again, and a
// rate more so, but leaves some alone. Newer Nodes need more gets until all is compiled for good, so there are many
// before.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { burst, needH2load, option } from './bench/servers.mjs';
import { NS, processorUs, startWithObject } from './bench/alternate.mjs';

const GET = { clients: 4, streams: 16 };
const SLICE_MS = 15;
/** Fewer are measured too roughly. */
const FEWEST_GETS_IN_SLICE = 200;
const majors = option('--nodes', '20,22,24').split(',');
const gets = Number(option('--gets', '60000'));
const rounds = Number(option('--rounds', '8'));
const warmingGets = Number(option('--warming', '250000'));

needH2load();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-nodes-'));
const servers = [];
try {
  for (const major of majors) {
    execFileSync(process.execPath, ['tools/fetch-node.mjs', major], { stdio: 'inherit' });
    const node = path.resolve('.cache', `node-${major}`, 'bin', 'node');
    const version = execFileSync(node, ['--version']).toString().trim();
    const server = await startWithObject(path.join(folder, major), [], node);
    servers.push({ ...server, version, slicesUs: [] });
  }
  for (const server of servers) await burst(server, `${NS}/configmaps/one`, warmingGets, GET);
  for (let round = 0; round < rounds; round++) {
    // Alternately, and each as often first.
    for (const server of round % 2 === 0 ? servers : [...servers].reverse()) await measure(server);
  }
  for (const { version, slicesUs } of servers) {
    slicesUs.sort((a, b) => a - b);
    const at = (share) => slicesUs[Math.floor(slicesUs.length * share)].toFixed(1);
    console.log(`${version.padEnd(10)} ${at(0.1)} µs of the processor for a get, in the median ${at(0.5)}`);
  }
} finally {
  for (const { child } of servers) child.kill('SIGKILL');
  fs.rmSync(folder, { recursive: true, force: true });
}

async function measure(server) {
  const writtenBefore = writtenBytes(server);
  let over = false;
  const load = burst(server, `${NS}/configmaps/one`, gets, GET).finally(() => (over = true));
  const slices = [];
  let before = look(server);
  while (!over) {
    await sleep(SLICE_MS);
    const now = look(server);
    slices.push({ us: now.us - before.us, bytes: now.bytes - before.bytes });
    before = now;
  }
  await load;
  const bytesOfGet = (writtenBytes(server) - writtenBefore) / gets;
  // The first has the handshakes in it.
  for (const { us, bytes } of slices.slice(1)) {
    if (bytes > FEWEST_GETS_IN_SLICE * bytesOfGet) server.slicesUs.push((us * bytesOfGet) / bytes);
  }
}

function look(server) {
  return { us: processorUs(server), bytes: writtenBytes(server) };
}

function writtenBytes({ child }) {
  return Number(/^wchar: (\d+)$/m.exec(fs.readFileSync(`/proc/${child.pid}/io`, 'utf8'))[1]);
}
