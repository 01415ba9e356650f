// What encryption at rest costs: creates and reads of secrets through a server on the embedded store, plain and under
// aesgcm and KMS v2, and how long a server with many secrets takes to have them in memory. Rates depend on what else the
// machine does; the server's processor time for each request does so less. The servers are measured alternately, a
// quarter of a second each, so that other load meets all of them; the figures are sums of all slices.
//
//   node tools/bench-encryption.mjs [--rounds 40] [--secrets 50000]
import { spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.mjs';

const args = process.argv.slice(2);
const option = (name, fallback) => Number(args.includes(name) ? args[args.indexOf(name) + 1] : fallback);
const rounds = option('--rounds', 40);
const secrets = option('--secrets', 50_000);
const CLIENTS = 32;
const WARM_UP_SECONDS = 2;
const SLICE_SECONDS = 0.25;
const LOADERS = 64;
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-bench-encryption-'));
const AT = '/api/v1/namespaces/default/secrets';
const VALUE = crypto.randomBytes(700).toString('base64');

const kms = await startKmsPlugin(path.join(root, 'kms.sock'));
const key = { name: 'key', secret: crypto.randomBytes(32).toString('base64') };
const ways = {
  plain: undefined,
  aesgcm: { aesgcm: { keys: [key] } },
  'kms v2': { kms: { apiVersion: 'v2', name: 'vault', endpoint: `unix://${kms.file}` } },
};
try {
  const figures = await measureRates();
  const { plain } = figures;
  for (const [name, { creates, reads }] of Object.entries(figures)) {
    const text = (own, plainText) => {
      const rate = ({ count, seconds }) => count / seconds;
      const cpuUs = ({ count, cpuMs }) => (cpuMs * 1000) / count;
      const ratios = [rate(own) / rate(plainText), cpuUs(plainText) / cpuUs(own)].map((ratio) => ratio.toFixed(2));
      return `${Math.round(rate(own))}/s (${ratios[0]} of plain), ${Math.round(cpuUs(own))} us each (${ratios[1]})`;
    };
    console.log(`${name.padEnd(7)} creates ${text(creates, plain.creates)}; reads ${text(reads, plain.reads)}`);
  }
  if (secrets > 0)
    for (const [name, provider] of Object.entries(ways))
      console.log(`${name.padEnd(7)} ${await measureLoad(name, provider)}`);
} finally {
  kms.stop();
  fs.rmSync(root, { recursive: true, force: true });
}

async function measureRates() {
  const servers = [];
  for (const [name, provider] of Object.entries(ways)) {
    const server = await startServer(path.join(root, `rates-${name}`), provider);
    const sums = () => ({ count: 0, seconds: 0, cpuMs: 0 });
    servers.push({ name, server, made: 0, read: 0, creates: sums(), reads: sums() });
  }
  const create = (one) => one.server.send('POST', AT, secret(`c${one.made++}`));
  const get = (one) => one.server.send('GET', `${AT}/c${one.read++ % one.made}`);
  for (const one of servers) {
    await run(one.server, () => create(one), WARM_UP_SECONDS);
    await run(one.server, () => get(one), WARM_UP_SECONDS);
  }
  for (let round = 0; round < rounds; round++) {
    for (const one of servers) add(one.creates, await run(one.server, () => create(one), SLICE_SECONDS));
    for (const one of servers) add(one.reads, await run(one.server, () => get(one), SLICE_SECONDS));
  }
  await Promise.all(servers.map(({ server }) => server.stop()));
  return Object.fromEntries(servers.map(({ name, creates, reads }) => [name, { creates, reads }]));
}

function add(sums, figures) {
  for (const name of Object.keys(sums)) sums[name] += figures[name];
}

async function run(server, task, forSeconds) {
  const cpuBegan = server.cpuMs();
  const began = performance.now();
  let count = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (performance.now() - began < forSeconds * 1000) {
        await task();
        count++;
      }
    }),
  );
  return { count, seconds: (performance.now() - began) / 1000, cpuMs: server.cpuMs() - cpuBegan };
}

async function measureLoad(name, provider) {
  const folder = path.join(root, `load-${name}`);
  const first = await startServer(folder, provider);
  let next = 0;
  await Promise.all(
    Array.from({ length: LOADERS }, async () => {
      for (let i = next++; i < secrets; i = next++) await first.send('POST', AT, secret(`s${i}`));
    }),
  );
  await first.stop();
  const began = performance.now();
  const second = await startServer(folder, provider);
  const ready = performance.now() - began;
  const list = JSON.parse(await second.send('GET', `${AT}?limit=1`));
  const loaded = performance.now() - began;
  const cpu = Math.round(second.cpuMs());
  const scanBegan = second.cpuMs();
  if (provider !== undefined) await second.send('GET', '/debug/encryption');
  const scan = provider === undefined ? '' : `, status scan ${Math.round(second.cpuMs() - scanBegan)} ms of processors`;
  await second.stop();
  const count = (list.metadata.remainingItemCount ?? 0) + list.items.length;
  return `start with ${count} secrets: ready in ${Math.round(ready)} ms, first list in ${Math.round(loaded)} ms, ${cpu} ms of processors${scan}`;
}

function secret(name) {
  return JSON.stringify({ metadata: { name }, data: { value: VALUE } });
}

async function startServer(folder, provider) {
  const port = await freePort();
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'tokens.csv'), 'token,admin,admin,"system:masters"\n');
  const flags = [
    `--data-dir=${folder}`,
    `--secure-port=${port}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=RBAC',
    `--token-auth-file=${path.join(folder, 'tokens.csv')}`,
    '--max-requests-inflight=0',
    '--max-mutating-requests-inflight=0',
    '--enable-priority-and-fairness=false',
  ];
  if (provider !== undefined) {
    const file = path.join(folder, 'encryption.json');
    const resources = [{ resources: ['secrets'], providers: [provider, { identity: {} }] }];
    const config = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources };
    fs.writeFileSync(file, JSON.stringify(config));
    flags.push(`--encryption-provider-config=${file}`);
  }
  const child = spawn('bin/binnacle', flags, { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  let session;
  const send = (method, at, body) =>
    new Promise((resolve, reject) => {
      const stream = session.request({
        ':method': method,
        ':path': at,
        authorization: 'Bearer token',
        'content-type': 'application/json',
      });
      let text = '';
      let status = 0;
      stream.on('response', (headers) => (status = headers[':status']));
      stream.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      stream.on('end', () => (status < 300 ? resolve(text) : reject(new Error(`${method} ${at}: ${status} ${text}`))));
      stream.on('error', reject);
      stream.end(body);
    });
  for (let tries = 0; ; tries++) {
    try {
      session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
      session.on('error', () => undefined);
      await send('GET', '/readyz');
      break;
    } catch (error) {
      session.destroy();
      if (tries > 1000 || child.exitCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return {
    send,
    cpuMs: () => cpuMsOf(child.pid),
    async stop() {
      session.destroy();
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** A KMS v2 plugin that encrypts by reversing the bytes. */
async function startKmsPlugin(file) {
  const field = (number, bytes) => Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
  const first = (message) => message.subarray(2, 2 + message[1]);
  const answers = {
    Status: () =>
      Buffer.concat([field(1, Buffer.from('v2')), field(2, Buffer.from('ok')), field(3, Buffer.from('k1'))]),
    Encrypt: (message) => Buffer.concat([field(1, Buffer.from(first(message)).reverse()), field(2, Buffer.from('k1'))]),
    Decrypt: (message) => field(1, Buffer.from(first(message)).reverse()),
  };
  const server = http2.createServer();
  const sessions = new Set();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    const chunks = [];
    stream.on('data', (chunk) => chunks.push(chunk));
    stream.on('end', () => {
      const answer = answers[headers[':path'].split('/').pop()](Buffer.concat(chunks).subarray(5));
      const head = Buffer.alloc(5);
      head.writeUInt32BE(answer.length, 1);
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.concat([head, answer]));
    });
  });
  await new Promise((resolve) => server.listen(file, resolve));
  const stop = () => {
    for (const session of sessions) session.destroy();
    server.close();
  };
  return { file, stop };
}

/** Linux only: what the process has used of processors, in all its threads. */
function cpuMsOf(pid) {
  const threads = fs.readdirSync(`/proc/${pid}/task`);
  const ns = threads.map((id) => Number(fs.readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]));
  return ns.reduce((sum, one) => sum + one, 0) / 1e6;
}
