// Resident memory of our etcd and of etcd 3.5 by how many keys they hold: node tools/measure-etcd-memory.mjs
// [--keys=0,10000,100000] [--value=1024] [--writes=10000] [--idle=180] [--program=NAME=FILE …]
//
// Each number of keys in a program of its own on an empty folder, one after the other. Keys and values are like those of
// pods and are put one by one, as kube-apiserver writes them: etcd keeps its last 100,000 requests in memory. Memory is read
// ten seconds after that; when it was idle for --idle seconds more (Go collects every two minutes at least); and at its most
// while 16 writers put keys that are there again. MiB, anonymous memory and mapped files apart: the kernel takes pages of files
// back when it needs them.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { loadSource } from './bundle.mjs';
import { freePort } from './free-port.mjs';

const { connectMember } = await loadSource('src/kv/etcd/connect.ts');
const { directDialer } = await loadSource('src/outbound/dialer.ts');
const { PUT_REQUEST } = await loadSource('src/kv/etcd/messages/kv.ts');
const given = (name) =>
  process.argv.filter((arg) => arg.startsWith(`--${name}=`)).map((arg) => arg.slice(name.length + 3));
const KEYS = (given('keys')[0] ?? '0,10000,100000').split(',').map(Number);
const VALUE_BYTES = Number(given('value')[0] ?? 1024);
const WRITES = Number(given('writes')[0] ?? 10_000);
const IDLE_MS = Number(given('idle')[0] ?? 180) * 1000;
const PROGRAMS =
  given('program').length > 0
    ? given('program').map((text) => text.split('='))
    : [
        ['etcd 3.5', path.resolve('.cache/bin/etcd-3.5')],
        ['binnacle etcd', path.resolve('bin/etcd')],
      ];
const FILLERS = 256;
const WRITERS = 16;
const NAMESPACES = 97;
const CALL_MS = 120_000;
const SAMPLE_MS = 200;
const SETTLING_MS = 10_000;
const QUOTA_BYTES = 8 * 1024 ** 3;
const KIB_A_MIB = 1024;
/** A prime, so that all keys come, and neighbours not one after the other. */
const STEP = 104_729;

console.log('| keys | program | filled | idle | 16 writers | files, MB |\n|---|---|---|---|---|---|');
for (const keys of KEYS) for (const [name, program] of PROGRAMS) await measure(name, program, keys);

async function measure(name, program, keys) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-memory-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = start(program, { folder, url, peerUrl: `http://127.0.0.1:${await freePort()}` });
  try {
    await put(url, { writers: FILLERS, writes: keys, keys });
    await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
    const filled = memoryOf(child.pid);
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const idle = memoryOf(child.pid);
    const writing = keys === 0 ? idle : await whileWriting(url, child.pid, keys);
    const cells = [filled, idle, writing].map(({ anonymous, files }) => `${anonymous} + ${files}`);
    console.log(
      `| ${keys.toLocaleString('en')} | ${name} | ${cells.join(' | ')} | ${Math.round(sizeOf(folder) / 1e6)} |`,
    );
  } finally {
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function start(program, { folder, url, peerUrl }) {
  const flags = {
    'data-dir': folder,
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'quota-backend-bytes': QUOTA_BYTES,
    'log-level': 'error',
  };
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  return spawn(program, args, { stdio: 'ignore' });
}

/** On a connection of its own: one that is idle for minutes is closed. */
async function put(url, { writers, writes, keys }) {
  const connection = await connected(url);
  let next = 0;
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (next < writes) {
        const i = (next++ * STEP) % keys;
        await connection.call(
          '/etcdserverpb.KV/Put',
          PUT_REQUEST.encode({ key: keyOf(i), value: valueOf(i) }),
          CALL_MS,
        );
      }
    }),
  );
  connection.close();
}

async function connected(url) {
  for (;;) {
    try {
      return await connectMember(url, { dialer: directDialer });
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** The most that is seen. */
async function whileWriting(url, pid, keys) {
  let most = memoryOf(pid);
  const sampling = setInterval(() => {
    const now = memoryOf(pid);
    if (now.anonymous + now.files > most.anonymous + most.files) most = now;
  }, SAMPLE_MS);
  await put(url, { writers: WRITERS, writes: WRITES, keys });
  clearInterval(sampling);
  return most;
}

function memoryOf(pid) {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (field) => Math.round(Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / KIB_A_MIB);
  return { anonymous: mib('RssAnon'), files: mib('RssFile') };
}

function sizeOf(folder) {
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + fs.statSync(path.join(parentPath, name)).blocks * 512, 0);
}

function keyOf(i) {
  const namespace = `team-${i % NAMESPACES}`;
  return Buffer.from(`/registry/pods/${namespace}/web-${(i * 2_654_435_761) % 4_294_967_296}-${i}`);
}

/** Half of it is text that is in all of them, and half is not in any other, as with pods. */
function valueOf(i) {
  const common = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-${i}","namespace":"team-${i % NAMESPACES}","labels":{"app":"web"}},"spec":{"containers":[{"name":"app","image":"example.test/app:1.2","ports":[{"containerPort":80,"protocol":"TCP"}],"resources":{"limits":{"cpu":"500m","memory":"128Mi"}},"imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always","dnsPolicy":"ClusterFirst"},"uid":"`;
  return Buffer.from((common + randomBytes(VALUE_BYTES / 2).toString('hex')).slice(0, VALUE_BYTES));
}
