// What a gRPC call costs the caller: our client beside one on `node:http2`, each reading one key of the same etcd.
//
//   node tools/bench-grpc.mjs [--seconds 2] [--rounds 3] [--value 1024] [--etcd .cache/bin/etcd-3.5]
//
// The clients alternate, round by round; a figure is the median of the rounds. Calls a second depend on etcd and the
// machine; µs a call are the processor time of the calling process alone.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http2 from 'node:http2';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { option } from './bench/servers.mjs';
import { loadSource } from './bundle.mjs';

const RANGE = '/etcdserverpb.KV/Range';
const CALL_TIMEOUT_MS = 10_000;
const IN_FLIGHT = [1, 16, 64];
const seconds = Number(option('--seconds', '2'));
const rounds = Number(option('--rounds', '3'));
const valueBytes = Number(option('--value', '1024'));
const program = option('--etcd', path.join('.cache', 'bin', 'etcd-3.5'));

const { GrpcConnection, directDialer, openEtcdStore, encodeRange } = await loadSource(
  'src/outbound/grpc.js',
  'src/outbound/dialer.js',
  'src/kv/etcd/etcd.js',
  'src/kv/etcd/messages.js',
);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-grpc-'));
const etcd = await startEtcd();
try {
  const kv = openEtcdStore({ dialer: directDialer, servers: [etcd.url] });
  await kv.create('/bench/key', Buffer.alloc(valueBytes, 'x'));
  await kv.close();
  const ours = await GrpcConnection.open({ url: etcd.url, tls: {}, dialer: directDialer });
  const nodes = await nodeClient(etcd.url);
  const message = encodeRange({ key: '/bench/key' });
  const clients = [
    { name: 'node:http2', call: () => nodes.call(RANGE, message) },
    { name: 'ours', call: () => ours.call(RANGE, message, CALL_TIMEOUT_MS) },
  ];
  for (const { call } of clients) await load(call, 64, 0.5);
  console.log('in flight  client      calls/s  µs a call');
  for (const inFlight of IN_FLIGHT) {
    const figures = new Map(clients.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (const { name, call } of clients) figures.get(name).push(await load(call, inFlight, seconds));
    }
    for (const { name } of clients) {
      const { rate, us } = median(figures.get(name));
      console.log(
        `${String(inFlight).padStart(9)}  ${name.padEnd(10)} ${rate.toFixed(0).padStart(8)} ${us.toFixed(1).padStart(10)}`,
      );
    }
  }
  ours.close();
  nodes.close();
} finally {
  etcd.child.kill('SIGKILL');
  fs.rmSync(folder, { recursive: true, force: true });
}

async function load(call, inFlight, forSeconds) {
  let calls = 0;
  const began = performance.now();
  const cpu = process.cpuUsage();
  const endMs = began + forSeconds * 1000;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < endMs) {
        await call();
        calls++;
      }
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  return { rate: (calls * 1000) / (performance.now() - began), us: (user + system) / calls };
}

function median(figures) {
  return figures.toSorted((a, b) => a.us - b.us)[Math.floor(figures.length / 2)];
}

/** The least that a call needs with Node's client. */
async function nodeClient(url) {
  const session = http2.connect(url, { settings: { enablePush: false, initialWindowSize: 1 << 24 } });
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  return {
    close: () => session.destroy(),
    call: (method, message) =>
      new Promise((resolve, reject) => {
        const stream = session.request({
          ':method': 'POST',
          ':path': method,
          'content-type': 'application/grpc',
          te: 'trailers',
        });
        const timer = setTimeout(() => stream.close(http2.constants.NGHTTP2_CANCEL), CALL_TIMEOUT_MS);
        const chunks = [];
        stream.on('data', (chunk) => chunks.push(chunk));
        stream.on('trailers', (trailers) => {
          clearTimeout(timer);
          if (trailers['grpc-status'] === '0') resolve(Buffer.concat(chunks).subarray(5));
          else reject(new Error(trailers['grpc-message']));
        });
        stream.on('error', reject);
        const head = Buffer.alloc(5);
        head.writeUInt32BE(message.length, 1);
        stream.end(Buffer.concat([head, message]));
      }),
  };
}

async function startEtcd() {
  const [port, peerPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const flags = [
    ['--data-dir', folder],
    ['--listen-client-urls', url],
    ['--advertise-client-urls', url],
    ['--listen-peer-urls', peerUrl],
    ['--initial-advertise-peer-urls', peerUrl],
    ['--initial-cluster', `default=${peerUrl}`],
  ].flat();
  return { url, child: spawn(program, flags, { stdio: 'ignore' }) };
}

async function freePort() {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
