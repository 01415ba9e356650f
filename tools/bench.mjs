// `npm run bench`: Binnacle beside bare servers on the same machine, in the same run, over TLS and HTTP/2.
//
//   node tools/bench.mjs [--seconds 4] [--rounds 5] [--only get,list,create,fanout]
//
// Needs h2load (Debian package nghttp2-client). What counts is the ratio: in each round both servers run one after the
// other, so that what else the machine does meets both, and the median of the rounds' ratios is shown. The bare server
// is Node's HTTP/2 and does nothing else; ours has its own, and is ahead of it where that was most of the work. A get is so
// cheap that h2load, on its one thread, is what it waits for: the processor time of the server says more than the rate.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  configMap,
  connect,
  headersOf,
  load,
  median,
  needH2load,
  option,
  send,
  startBinnacle,
} from './bench/servers.mjs';

const TARGETS = { get: 1.2, list: 0.9, create: 0.5, fanout: 0.9 };
const WATCHERS = 200;
const PODS = 500;

const seconds = Number(option('--seconds', '4'));
const rounds = Number(option('--rounds', '5'));
const only = option('--only', 'get,list,create,fanout').split(',');

const NS = '/api/v1/namespaces/bench';
const PATHS = {
  ours: {
    get: `${NS}/configmaps/one`,
    list: `${NS}/pods`,
    create: `${NS}/configmaps`,
    watch: `${NS}/secrets?watch=1`,
    event: `${NS}/secrets`,
  },
  bare: { get: '/get', list: '/list', create: '/create', watch: '/watch', event: '/event' },
};

const secret = () =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { generateName: 'f-' },
    stringData: { pad: 'x'.repeat(300) },
  });
const pod = (i) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${i}`, labels: { app: `a${i % 10}` } },
    spec: {
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'app',
          image: 'example.test/app:1',
          ports: [{ containerPort: 80 }],
          resources: { requests: { cpu: '100m', memory: '128Mi' } },
        },
      ],
    },
  });

const WORK = {
  get: (server, kind) => load(server, PATHS[kind].get, { clients: 4, streams: 16, seconds }),
  list: (server, kind) => load(server, PATHS[kind].list, { clients: 2, streams: 4, seconds }),
  create: (server, kind) =>
    load(server, PATHS[kind].create, { clients: 4, streams: 16, seconds, bodyFile: path.join(folder, 'body') }),
  fanout,
};

needH2load();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-'));
const children = [];
try {
  const ours = await startBinnacle(folder);
  children.push(ours.child);
  fs.writeFileSync(path.join(folder, 'body'), configMap({ generateName: 'gen-' }));
  await prepare(ours);
  const bare = await startBare(ours);
  let missed = 0;
  for (const work of only) {
    const got = { ours: [], bare: [], ratio: [] };
    for (let round = 0; round < rounds; round++) {
      const bareRate = await WORK[work](bare, 'bare');
      const ourRate = await WORK[work](ours, 'ours');
      got.bare.push(bareRate);
      got.ours.push(ourRate);
      got.ratio.push(ourRate / bareRate);
    }
    const [a, b, ratio] = [median(got.ours), median(got.bare), median(got.ratio)];
    if (ratio < TARGETS[work]) missed++;
    console.log(
      `${work.padEnd(8)} ${a.toFixed(0).padStart(8)}/s   bare ${b.toFixed(0).padStart(8)}/s   ratio ${ratio.toFixed(2)} (target ${TARGETS[work]})`,
    );
  }
  console.log(missed === 0 ? 'every target met' : `${missed} targets missed`);
} finally {
  for (const child of children) child.kill('SIGKILL');
  fs.rmSync(folder, { recursive: true, force: true });
}

async function fanout(server, kind) {
  const sessions = Array.from({ length: 4 }, () => connect(server));
  let lines = 0;
  for (let i = 0; i < WATCHERS; i++) {
    const stream = sessions[i % sessions.length].request(headersOf('GET', PATHS[kind].watch));
    stream.on('error', () => undefined);
    stream.on('data', (chunk) => {
      for (const byte of chunk) if (byte === 10) lines++;
    });
    await new Promise((resolve) => stream.on('response', resolve));
  }
  const writer = connect(server);
  await new Promise((resolve) => setTimeout(resolve, 300));
  lines = 0;
  const started = performance.now();
  const end = started + seconds * 1000;
  let sent = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (performance.now() < end) {
        await send(writer, headersOf('POST', PATHS[kind].event), secret());
        sent++;
      }
    }),
  );
  const deadline = performance.now() + 20_000;
  while (lines < sent * WATCHERS && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const rate = lines / ((performance.now() - started) / 1000);
  for (const session of [...sessions, writer]) session.destroy();
  return rate;
}

async function prepare(server) {
  const session = connect(server);
  await send(session, headersOf('POST', '/api/v1/namespaces'), JSON.stringify({ metadata: { name: 'bench' } }));
  await send(session, headersOf('POST', `${NS}/serviceaccounts`), JSON.stringify({ metadata: { name: 'default' } }));
  await send(session, headersOf('POST', `${NS}/configmaps`), configMap({ name: 'one' }));
  for (let i = 0; i < PODS; i++) await send(session, headersOf('POST', `${NS}/pods`), pod(i));
  fs.writeFileSync(path.join(folder, 'object'), await send(session, headersOf('GET', PATHS.ours.get)));
  fs.writeFileSync(path.join(folder, 'list'), await send(session, headersOf('GET', PATHS.ours.list)));
  const made = await send(session, headersOf('POST', `${NS}/secrets`), secret());
  fs.writeFileSync(path.join(folder, 'event'), `{"type":"ADDED","object":${made.toString().trim()}}\n`);
  session.close();
}

async function startBare({ dataDir }) {
  const settings = {
    folder,
    certFile: path.join(dataDir, 'pki', 'apiserver.crt'),
    keyFile: path.join(dataDir, 'pki', 'apiserver.key'),
    objectFile: path.join(folder, 'object'),
    listFile: path.join(folder, 'list'),
    eventFile: path.join(folder, 'event'),
  };
  const child = spawn(process.execPath, ['tools/bench/bare-server.mjs', JSON.stringify(settings)]);
  children.push(child);
  const port = await new Promise((resolve, reject) => {
    child.stdout.on('data', (text) => resolve(Number(text)));
    child.stderr.on('data', (text) => reject(new Error(String(text))));
  });
  return { url: `https://127.0.0.1:${port}` };
}
