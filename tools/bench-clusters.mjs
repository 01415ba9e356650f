// What throwaway clusters cost: wall time, and processor time of the process that serves them, which others on the machine do
// not lengthen as much.
//
//   node tools/bench-clusters.mjs [--tests=50] [--apiserver=FILE --etcd=FILE [--their-tests=5]]
//
// Of the suite, each test has a clean cluster: a new one, or a reset one. With kube-apiserver and etcd the same suite runs on
// these, started for each test as envtest does. Without NODE_EXTRA_CA_CERTS, which makes each start of Node.js read all
// authorities that it knows: 80 ms, and more than twice a start without.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { startCluster } from '../dist/testing.mjs';
import { startEnvtestServers } from './bench/envtest-servers.mjs';

const MAPS = '/api/v1/namespaces/default/configmaps';
const AT_ONCE = 20;
const BATCH = 50;
const { values: options } = parseArgs({
  options: {
    tests: { type: 'string', default: '50' },
    apiserver: { type: 'string' },
    etcd: { type: 'string' },
    'their-tests': { type: 'string', default: '5' },
  },
});
const tests = Number(options.tests);
delete process.env.NODE_EXTRA_CA_CERTS;
let hostPid;

const first = await timed('first cluster, to its first answer', async () => {
  const cluster = await startCluster({ auditLevel: 'None' });
  await cluster.request('GET', '/api/v1/namespaces');
  return cluster;
});
const clean = await timed('snapshot', () => first.snapshot());
await create(1000);
await timed('reset of 1,000 objects', () => first.reset(clean));
await create(1000);
await timed('reset of 1,000 objects, again', () => first.reset(clean));
await create(10_000);
const full = await first.snapshot();
const fork = await timed('fork of 10,000 objects', () => first.fork(full));
await timed('fork of 10,000 objects, again', async () => (await first.fork(full)).stop());
await Promise.all([fork.stop(), first.reset(clean)]);
await timed(`${tests} tests, each with a cluster`, async () => {
  for (let i = 0; i < tests; i++) {
    const cluster = await startCluster({ auditLevel: 'None' });
    await oneTest(cluster);
    await cluster.stop();
  }
});
await timed(`${tests} tests, each with a reset`, async () => {
  for (let i = 0; i < tests; i++) {
    await oneTest(first);
    await first.reset(clean);
  }
});
await timed(`${AT_ONCE} clusters at once`, () =>
  Promise.all(Array.from({ length: AT_ONCE }, () => startCluster({ auditLevel: 'None' }))),
);
console.log(`${'memory with these (Pss)'.padEnd(36)} ${pssMib(hostPid).toFixed(0)} MiB`);
if (options.apiserver !== undefined && options.etcd !== undefined) await theirs(Number(options['their-tests']));

async function timed(what, work) {
  const before = hostPid === undefined ? 0 : processorMs(hostPid);
  const startMs = performance.now();
  const result = await work();
  const wallMs = performance.now() - startMs;
  hostPid ??= Number(execFileSync('pgrep', ['-P', String(process.pid), '-f', 'serve-clusters'], { encoding: 'utf8' }));
  const usedMs = processorMs(hostPid) - before;
  console.log(
    `${what.padEnd(36)} ${wallMs.toFixed(0).padStart(7)} ms ${usedMs.toFixed(0).padStart(7)} ms of processors`,
  );
  return result;
}

async function create(count) {
  for (let from = 0; from < count; from += BATCH) {
    const bodies = Array.from({ length: BATCH }, (_, i) => ({
      metadata: { name: `c${from + i}` },
      data: { a: 'x'.repeat(500) },
    }));
    await Promise.all(bodies.map((body) => first.request('POST', MAPS, body)));
  }
}

async function oneTest(cluster) {
  for (let i = 0; i < 10; i++) await cluster.request('POST', MAPS, { metadata: { name: `t${i}` } });
}

function processorMs(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** What is shared with other processes is counted in parts. */
function pssMib(pid) {
  return Number(/^Pss:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024;
}

async function theirs(count) {
  const startMs = performance.now();
  let processors = 0;
  let startsMs = 0;
  for (let i = 0; i < count; i++) {
    const beganMs = performance.now();
    const servers = await startEnvtestServers(options);
    startsMs += performance.now() - beganMs;
    await oneTest(servers);
    for (const pid of servers.pids) processors += processorMs(pid);
    await servers.stop();
  }
  const wallMs = performance.now() - startMs;
  const what = `${count} tests on kube-apiserver and etcd`;
  console.log(
    `${what.padEnd(36)} ${wallMs.toFixed(0).padStart(7)} ms ${processors.toFixed(0).padStart(7)} ms of processors`,
  );
  console.log(`${'  of these until ready'.padEnd(36)} ${startsMs.toFixed(0).padStart(7)} ms`);
}
