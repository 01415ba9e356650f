// Real etcd servers for tests.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { freePort } from './support/free-port.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

/** The etcd programs at hand, by name: BINNACLE_ETCD, or what tools/fetch-test-binaries.mjs fetched. */
export function etcdPrograms(): { name: string; program: string }[] {
  const root = process.env['BINNACLE_ROOT'] ?? '.';
  const configured = process.env['BINNACLE_ETCD'];
  if (configured !== undefined) return [{ name: 'etcd', program: configured }];
  return ['etcd-3.5', 'etcd-3.4']
    .map((name) => ({ name, program: path.join(root, '.cache', 'bin', name) }))
    .filter(({ program }) => fs.existsSync(program));
}

export interface EtcdTls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface EtcdProcess {
  readonly url: string;
  readonly port: number;
  /** 0 while it does not run. */
  pid(): number;
  pause(): void;
  resume(): void;
  kill(): Promise<void>;
  /** Again, on the same data and port. */
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** With `tls` etcd requires client certificates of that authority. */
export async function startEtcd(program: string, tls?: EtcdTls): Promise<EtcdProcess> {
  const peerUrl = `http://127.0.0.1:${await freePort()}`;
  const peer = { name: 'default', url: peerUrl, listenUrl: peerUrl };
  return startMember(program, { peers: [peer], peer, tls });
}

/** Members of one cluster. `peerPort` leads the way between them: a port that leads to the one on which a member listens. */
export async function startEtcdCluster(
  program: string,
  size: number,
  { tls, peerPort }: { tls?: EtcdTls; peerPort?: (member: number, target: number) => Promise<number> } = {},
): Promise<readonly EtcdProcess[]> {
  const peers: EtcdPeer[] = [];
  for (let i = 0; i < size; i++) {
    const listenPort = await freePort();
    const port = (await peerPort?.(i, listenPort)) ?? listenPort;
    peers.push({ name: `m${i}`, url: `http://127.0.0.1:${port}`, listenUrl: `http://127.0.0.1:${listenPort}` });
  }
  return Promise.all(peers.map((peer) => startMember(program, { peers, peer, tls })));
}

interface EtcdPeer {
  readonly name: string;
  /** By which others reach it. */
  readonly url: string;
  readonly listenUrl: string;
}

async function startMember(
  program: string,
  { peers, peer, tls }: { peers: readonly EtcdPeer[]; peer: EtcdPeer; tls?: EtcdTls | undefined },
): Promise<EtcdProcess> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-etcd-'));
  const port = await freePort();
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn(
      program,
      [
        ['--name', peer.name],
        ['--data-dir', folder],
        ['--listen-client-urls', url],
        ['--advertise-client-urls', url],
        ['--listen-peer-urls', peer.listenUrl],
        ['--initial-advertise-peer-urls', peer.url],
        ['--initial-cluster', peers.map((one) => `${one.name}=${one.url}`).join(',')],
        tls === undefined
          ? []
          : ['--client-cert-auth', '--trusted-ca-file', tls.ca, '--cert-file', tls.cert, '--key-file', tls.key],
      ].flat(),
      { stdio: 'ignore', env: { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch } },
    );
    await pollUntil(() => accepts(port));
  };
  const kill = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    url,
    port,
    pid: () => child?.pid ?? 0,
    pause: () => child?.kill('SIGSTOP'),
    resume: () => child?.kill('SIGCONT'),
    kill,
    start,
    remove: async () => {
      await kill();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
