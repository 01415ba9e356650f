// How long from the start of the process until /readyz says ok, and how much memory the idle server then holds.
//
//   node tools/measure-start.mjs [rounds] [--program=FILE] [-- flags for the server]    FILE: an installed binnacle
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.mjs';

const TARGET_MS = 500;
const TARGET_MIB = 120;
const GIVE_UP_MS = 30_000;
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dashes = process.argv.indexOf('--');
const own = process.argv.slice(2, dashes < 0 ? undefined : dashes);
const flags = dashes < 0 ? [] : process.argv.slice(dashes + 1);
const program = own.find((word) => word.startsWith('--program='))?.slice('--program='.length);
const rounds = Number(own.find((word) => !word.startsWith('--')) ?? 5);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-start-'));
const port = await freePort();

try {
  // The first start makes keys, the store and the code cache; it is shown apart.
  const first = await start();
  const later = [];
  for (let i = 0; i < rounds; i++) later.push(await start());
  const ms = median(later.map((one) => one.ms));
  const mib = median(later.map((one) => one.mib));
  console.log(
    `first start   ${first.ms.toFixed(0)} ms   (${first.cpuMs} ms of processor time)   ${first.mib.toFixed(0)} MiB`,
  );
  const cpuMs = median(later.map((one) => one.cpuMs));
  console.log(
    `ready after   ${ms.toFixed(0)} ms   (median of ${rounds}; target ${TARGET_MS}; ${cpuMs} ms of processor time)`,
  );
  console.log(`resident      ${mib.toFixed(0)} MiB   (target ${TARGET_MIB})`);
  process.exitCode = ms <= TARGET_MS && mib <= TARGET_MIB ? 0 : 1;
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}

async function start() {
  const startedMs = performance.now();
  const words = ['--authorization-mode=RBAC', `--data-dir=${folder}`, `--secure-port=${port}`, ...flags];
  const server = spawn(program ?? path.join(root, 'bin', 'binnacle'), words, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  server.stderr.on('data', (text) => (log += text));
  const ended = new Promise((resolve) => server.on('exit', resolve));
  try {
    while (!(await isReady())) {
      if (server.exitCode !== null || performance.now() - startedMs > GIVE_UP_MS)
        throw new Error(`never ready:\n${log}`);
      await sleep(2);
    }
    const ms = performance.now() - startedMs;
    const cpuMs = processorMs(server.pid);
    // The code cache is written after two seconds, and by then the heap has settled.
    await sleep(2500);
    return { ms, cpuMs, mib: residentMib(server.pid) };
  } finally {
    server.kill('SIGTERM');
    await ended;
  }
}

function isReady() {
  return new Promise((resolve) => {
    const client = (name) => {
      try {
        return fs.readFileSync(path.join(folder, 'pki', name));
      } catch {
        return undefined;
      }
    };
    const [cert, key] = [client('admin.crt'), client('admin.key')];
    if (cert === undefined || key === undefined) return resolve(false);
    const request = https.get(
      { host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, agent: false, cert, key },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    request.on('error', () => resolve(false));
  });
}

/** On a busy machine the clock runs on while others work; this does not. */
function processorMs(pid) {
  const [user, system] = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

function residentMib(pid) {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
