// What the benchmarks share: a server of ours with an administrator's token, requests to it, and load on it.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import http2 from 'node:http2';
import path from 'node:path';

export const TOKEN = 'bench-token';

/** h2load is in the Debian package nghttp2-client. */
export function needH2load() {
  try {
    execFileSync('h2load', ['--version'], { stdio: 'ignore' });
  } catch {
    console.error('h2load is missing: it is in the Debian package nghttp2-client');
    process.exit(1);
  }
}

export const option = (name, fallback) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : process.argv[at + 1];
};

export const configMap = (metadata) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { pad: 'x'.repeat(900) } });

/**
 * Starts a server with a data folder in `folder`, on this Node or another, with flags of Node's own; `child` is the
 * caller's to end.
 */
export async function startBinnacle(folder, more = [], node = process.execPath, nodeFlags = []) {
  fs.mkdirSync(folder, { recursive: true });
  const tokens = path.join(folder, 'tokens.csv');
  fs.writeFileSync(tokens, `${TOKEN},admin,admin,"system:masters"\n`);
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const dataDir = path.join(folder, 'data');
  const child = spawn(node, [
    ...nodeFlags,
    'bin/binnacle',
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--data-dir=${dataDir}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    `--token-auth-file=${tokens}`,
    ...more,
  ]);
  await new Promise((resolve, reject) => {
    child.stderr.on('data', (text) => String(text).includes('Serving securely') && resolve());
    child.on('exit', () => reject(new Error('the server ended')));
  });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return { url: `https://127.0.0.1:${port}`, dataDir, child };
}

/** Requests a second, all of them well answered. */
export function load(server, target, { seconds, ...options }) {
  return runH2load(server, target, ['-D', String(seconds), '--warm-up-time=1'], options);
}

/** So many requests, all of them well answered. */
export function burst(server, target, count, options) {
  return runH2load(server, target, ['-n', String(count)], options);
}

function runH2load(server, target, extent, { clients, streams, bodyFile }) {
  const args = [...extent, '-c', String(clients), '-m', String(streams), '-t', '1'];
  args.push('-H', `authorization: Bearer ${TOKEN}`);
  if (bodyFile !== undefined) args.push('-d', bodyFile, '-H', 'content-type: application/json');
  return new Promise((resolve, reject) => {
    const child = spawn('h2load', [...args, server.url + target]);
    let out = '';
    child.stdout.on('data', (text) => (out += text));
    child.on('error', reject);
    child.on('close', () => {
      const rate = /finished in [\d.]+\w+, ([\d.]+) req\/s/.exec(out);
      const codes = /status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx/.exec(out);
      if (rate === null || codes === null || Number(codes[3]) + Number(codes[4]) > 0) reject(new Error(out));
      else resolve(Number(rate[1]));
    });
  });
}

export function connect(server) {
  const session = http2.connect(server.url, { rejectUnauthorized: false, peerMaxConcurrentStreams: 1000 });
  session.on('error', () => undefined);
  session.on('connect', () => session.setLocalWindowSize(1 << 24));
  return session;
}

export function headersOf(method, target, more = {}) {
  const type = { 'content-type': 'application/json' };
  return { ':method': method, ':path': target, authorization: `Bearer ${TOKEN}`, ...type, ...more };
}

/** `headers`: of `headersOf`. */
export function send(session, headers, body) {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers);
    const parts = [];
    let status = 0;
    stream.on('response', (answered) => (status = answered[':status']));
    stream.on('data', (part) => parts.push(part));
    stream.on('error', reject);
    stream.on('end', () => {
      const answer = Buffer.concat(parts);
      if (status >= 300)
        reject(new Error(`${headers[':method']} ${headers[':path']}: ${status} ${answer.toString().slice(0, 300)}`));
      else resolve(answer);
    });
    stream.end(body);
  });
}

export function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
