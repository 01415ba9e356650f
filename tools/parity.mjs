// Starts the server as the recordings were made and counts the answers that agree with them.
//
//   node tools/parity.mjs --shared DIR [--area NAME]... [--show N] [--case TEXT] [--keep]
//   node tools/parity.mjs --shared DIR --ratchet       compare the counts with test/parity/baseline.json
//   node tools/parity.mjs --shared DIR --raise         write the counts there
//   … --workers N                                      several worker processes; baseline-workers.json beside it has the
//                                                      counts that differ by design
//
// DIR holds golden/ and bin/golden.mjs. The server runs on an empty embedded store in a folder of its own.
import { execFileSync, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { compareCounts, fallen, optionOf, optionsOf } from './parity-counts.mjs';
import { replayAreas } from './parity-replay.mjs';

const BASELINE = 'test/parity/baseline.json';
const READY_MS = 120_000;
/** A few answers race with loops of the server's own. What is wrong falls short each time. */
const MAX_TRIES = 2;
/** Where kube-apiserver listened; a few recorded answers name it. */
const RECORDED_PORT = 16443;

const args = process.argv.slice(2);
const shared = optionOf(args, '--shared');
if (shared === undefined) {
  console.error('usage: node tools/parity.mjs --shared DIR [--ratchet | --raise | --area NAME --show N --case TEXT]');
  process.exit(2);
}
const server = optionOf(args, '--bin') ?? 'bin/binnacle';
const workers = optionOf(args, '--workers');
const counting = args.includes('--ratchet') || args.includes('--raise');

const counts = await replay(optionsOf(args, '--area'));
const tried = args.includes('--ratchet') ? fallen(BASELINE, counts, args).map(({ name }) => name) : [];
for (let again = 1, short = tried; again < MAX_TRIES && short.length > 0; again++) {
  console.log(`once more: ${short.join(', ')}`);
  const now = await replay(short);
  for (const area of short) counts[area] = Math.max(counts[area] ?? 0, now[area] ?? 0);
  short = fallen(BASELINE, counts, args).map(({ name }) => name);
}
process.exitCode = compareCounts(BASELINE, counts, args, tried);

/** How many answers of each area agree, on a new server with an empty store; of all areas when none is named. */
async function replay(selected) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'parity-'));
  let child;
  try {
    const port = await portToUse();
    child = await startServer(port, folder);
    return await replayAreas({
      tool: await import(pathToFileURL(path.resolve(shared, 'bin', 'golden.mjs'))),
      data: path.join(shared, 'golden'),
      client: {
        server: `https://127.0.0.1:${port}`,
        token: 'admintoken',
        tokens: { alice: 'alicetoken', bob: 'bobtoken' },
      },
      areas: selected,
      caseName: optionOf(args, '--case'),
      show: Number(optionOf(args, '--show') ?? (counting ? 0 : 10)),
    });
  } finally {
    child?.kill('SIGKILL');
    if (!args.includes('--keep')) fs.rmSync(folder, { recursive: true, force: true });
    else console.log(`kept ${folder}`);
  }
}

async function startServer(port, folder) {
  const { privateKey } = crypto.generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = path.join(folder, 'sa.key');
  fs.writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  fs.writeFileSync(
    path.join(folder, 'tokens.csv'),
    'admintoken,admin,admin-uid,"system:masters"\nalicetoken,alice,alice-uid,"dev,qa"\nbobtoken,bob,bob-uid\n',
  );
  const started = spawn(
    process.execPath,
    [
      server,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      `--data-dir=${path.join(folder, 'data')}`,
      '--authorization-mode=Node,RBAC',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--allow-privileged=true',
      '--enable-bootstrap-token-auth=true',
      '--service-account-issuer=https://kubernetes.default.svc',
      '--advertise-address=127.0.0.1',
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      `--token-auth-file=${path.join(folder, 'tokens.csv')}`,
      ...(workers === undefined ? [] : [`--workers=${workers}`]),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const log = fs.createWriteStream(path.join(folder, 'server.log'));
  started.stdout.pipe(log);
  started.stderr.pipe(log);
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline) {
    if (started.exitCode !== null) break;
    try {
      execFileSync('curl', ['-ksf', `https://127.0.0.1:${port}/readyz`], { stdio: 'ignore' });
      return started;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  started.kill('SIGKILL');
  throw new Error(
    `the server did not become ready:\n${fs.readFileSync(path.join(folder, 'server.log'), 'utf8').slice(-4000)}`,
  );
}

/** The recorded port, or any other when it is in use. */
async function portToUse() {
  return (await listenOn(RECORDED_PORT)) ?? (await listenOn(0));
}

function listenOn(wanted) {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.on('error', () => resolve(undefined));
    probe.listen(wanted, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
