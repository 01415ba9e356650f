// Our etcd beside etcd 3.5, by turns in one run, each on an empty folder: node tools/bench-etcd.mjs [--seconds=5] [--rounds=2] [--warm=5]
//
// Creates by transactions as kube-apiserver makes them, with 1, 16 and 64 clients at a time; ranges of one key and of 500; an event to
// 200 watches; memory; the start. The load is our own client in this process, on the same cores: processor time of the server is
// what compares best. Before the creates, 64 clients write for --warm seconds that count nowhere: V8 compiles what is called often.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { loadSource } from './bundle.mjs';
import { freePort } from './free-port.mjs';

const { openEtcdStore } = await loadSource('src/kv/etcd/etcd.ts');
const { directDialer } = await loadSource('src/outbound/dialer.ts');
const option = (name, byDefault) =>
  Number(process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? byDefault);
const SECONDS = option('seconds', 5);
const ROUNDS = option('rounds', 2);
const WARM_SECONDS = option('warm', 5);
const VALUE = Buffer.alloc(1024, 'v');
const PROGRAMS = { 'etcd 3.5': path.resolve('.cache/bin/etcd-3.5'), 'binnacle etcd': path.resolve('bin/etcd') };
const TICKS_PER_SECOND = 100;

const results = {};
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, program] of Object.entries(PROGRAMS)) (results[name] ??= []).push(await measure(program));
}
const [, first] = Object.entries(results)[0];
console.log(`| | ${Object.keys(results).join(' | ')} |\n|---|${'---|'.repeat(Object.keys(results).length)}`);
for (const row of Object.keys(first[0])) {
  const values = Object.values(results).map((rounds) => rounds.map((one) => one[row]));
  console.log(`| ${row} | ${values.map((each) => each.join(', ')).join(' | ')} |`);
}

async function measure(program) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-bench-'));
  const [client, peer] = [await freePort(), await freePort()];
  const urls = (port) => `http://127.0.0.1:${port}`;
  const began = performance.now();
  const child = spawn(
    program,
    [
      ['--data-dir', folder],
      ['--listen-client-urls', urls(client)],
      ['--advertise-client-urls', urls(client)],
      ['--listen-peer-urls', urls(peer)],
    ].flat(),
    { stdio: 'ignore' },
  );
  const row = {};
  try {
    while (!(await isHealthy(client))) await new Promise((resolve) => setTimeout(resolve, 5));
    row['start, s'] = ((performance.now() - began) / 1000).toFixed(2);
    row['idle, MiB'] = memory(child.pid);
    await creates({ port: client, pid: child.pid, writers: 64, row: {}, seconds: WARM_SECONDS, prefix: 'warm' });
    for (const writers of [1, 16, 64]) await creates({ port: client, pid: child.pid, writers, row });
    await ranges(client, child.pid, row);
    await fanOut(client, row);
    row['memory afterwards, MiB'] = memory(child.pid);
    return row;
  } finally {
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function creates({ port, pid, writers, row, seconds = SECONDS, prefix = 'w' }) {
  const kv = openEtcdStore({ dialer: directDialer, servers: [`http://127.0.0.1:${port}`] });
  await kv.revision();
  let count = 0;
  const before = processorMs(pid);
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let n = 0; performance.now() < end; n++) {
        const { done } = await kv.create(`/registry/bench/${prefix}${writers}-${writer}-${n}`, VALUE);
        if (!done) throw new Error('refused');
        count++;
      }
    }),
  );
  row[`creates/s, ${writers} clients`] = Math.round(count / seconds);
  row[`ms of processor for 1,000 creates, ${writers} clients`] = Math.round(
    ((processorMs(pid) - before) / count) * 1000,
  );
  await kv.close();
}

async function ranges(port, pid, row) {
  const kv = openEtcdStore({ dialer: directDialer, servers: [`http://127.0.0.1:${port}`] });
  for (const [what, read] of [
    ['gets/s, 16 clients', () => kv.get('/registry/bench/w16-1-1')],
    [
      'ranges of 500/s, 16 clients',
      () => kv.range({ start: '/registry/bench/w', end: '/registry/bench/x', limit: 500 }),
    ],
  ]) {
    let count = 0;
    const before = processorMs(pid);
    const end = performance.now() + SECONDS * 1000;
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        while (performance.now() < end) {
          await read();
          count++;
        }
      }),
    );
    row[what] = Math.round(count / SECONDS);
    row[`ms of processor for 1,000 ${what.split('/')[0]}`] = Math.round(((processorMs(pid) - before) / count) * 1000);
  }
  await kv.close();
}

/** How long a write takes until all of 200 watches have its event. */
async function fanOut(port, row) {
  const kv = openEtcdStore({ dialer: directDialer, servers: [`http://127.0.0.1:${port}`] });
  const startRevision = (await kv.revision()) + 1;
  let seen = 0;
  let all = () => undefined;
  const events = (batch) => {
    seen += batch.length;
    if (seen % 200 === 0) all();
  };
  for (let i = 0; i < 200; i++) {
    kv.watch({ prefix: '/fan/', startRevision }, { events, progress: () => undefined, failed: () => undefined });
  }
  const times = [];
  for (let n = 0; n < 100; n++) {
    const done = new Promise((resolve) => (all = resolve));
    const began = performance.now();
    await kv.create(`/fan/${n}`, VALUE);
    await done;
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  row['an event is with 200 watches after, ms'] = times[50].toFixed(1);
  await kv.close();
}

async function isHealthy(port) {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`)).ok;
  } catch {
    return false;
  }
}

function memory(pid) {
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
}

function processorMs(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}
