// What is tortured: servers that can be killed, started again and paused, on the store that is asked for.
import { type ChildProcess, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type EtcdProcess, etcdPrograms, startEtcd, startEtcdCluster } from '../etcd-process.js';
import { createAuthority } from '../support/certificates.js';
import { type ControlPlane, controlPlaneOn } from '../support/control-plane.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { createEtcdNetwork, type EtcdNetwork } from './etcd-network.js';

const DISK_BYTES = 256 * 1024 * 1024;
const MAX_LOG_LENGTH = 2000;
const MEMBERS = 3;

/** `cluster`: three members of etcd, over TLS, with a network of their own. */
export type StoreName = 'embedded' | 'etcd' | 'cluster';

export interface Target {
  readonly servers: readonly TargetServer[];
  /** Processes of each. */
  readonly workers: number;
  /** Its members; none with the embedded store. */
  readonly etcd: readonly EtcdProcess[];
  /** Between servers and members, and between members, where there are several. */
  readonly network: EtcdNetwork | undefined;
  /** The data folder of the embedded store. */
  readonly folder: string | undefined;
  /** A small disk that can be filled, where mounting is allowed. */
  readonly disk: string | undefined;
  remove(): Promise<void>;
}

export interface TargetServer {
  /** The ends of its log, for each time that it ended without being killed; it is then started again. */
  readonly deaths: string[];
  /** The server, as soon as there is one. */
  running(): Promise<TestServer>;
  /** Sets its time of day so far from the real one. */
  shiftClock(offsetMs: number): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  start(): Promise<void>;
  signal(name: NonNullable<ChildProcess['signalCode']>): Promise<void>;
}

export async function startTarget(options: {
  readonly store: StoreName;
  readonly servers: number;
  readonly workers: number;
  readonly needsDisk: boolean;
}): Promise<Target> {
  if (options.store === 'embedded') return startOnEmbeddedStore(options);
  const [newest] = etcdPrograms();
  if (newest === undefined) throw new Error('there is no etcd: run `node tools/fetch-test-binaries.mjs`');
  const { program } = newest;
  const network = options.store === 'cluster' ? createEtcdNetwork() : undefined;
  const controlPlane = network === undefined ? await startSingle(program) : await startOnCluster(program, network);
  try {
    const servers: TargetServer[] = [];
    for (let i = 0; i < options.servers; i++) {
      const clockFile = path.join(controlPlane.folder, `clock-${i}`);
      servers.push(
        await startServer(
          () => controlPlane.start([`--workers=${options.workers}`], undefined, { keepsConnections: true, clockFile }),
          clockFile,
        ),
      );
    }
    return {
      servers,
      workers: options.workers,
      etcd: controlPlane.etcd,
      network,
      folder: undefined,
      disk: undefined,
      async remove() {
        // Killed, not only stopped: one that ends by itself would be started again.
        await Promise.all(servers.map((server) => server.kill().catch(() => undefined)));
        await controlPlane.remove();
      },
    };
  } catch (error) {
    await controlPlane.remove();
    throw error;
  }
}

async function startSingle(program: string): Promise<ControlPlane<readonly EtcdProcess[]>> {
  const etcd = await startEtcd(program);
  return controlPlaneOn({ etcd: [etcd], flags: [`--etcd-servers=${etcd.url}`], removeEtcd: () => etcd.remove() });
}

async function startOnCluster(program: string, network: EtcdNetwork): Promise<ControlPlane<readonly EtcdProcess[]>> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-torture-etcd-'));
  const authority = createAuthority(folder, 'etcd-ca');
  const member = authority.issue('member', 'server', { ipAddresses: ['127.0.0.1'] });
  const client = authority.issue('apiserver', 'client');
  const etcd = await startEtcdCluster(program, MEMBERS, {
    tls: { ca: authority.ca, ...member },
    peerPort: (index, target) => network.peerPort(index, target),
  });
  const ports = await Promise.all(etcd.map(({ port }, i) => network.clientPort(i, port)));
  return controlPlaneOn({
    etcd,
    flags: [
      `--etcd-servers=${ports.map((port) => `https://127.0.0.1:${port}`).join(',')}`,
      `--etcd-cafile=${authority.ca}`,
      `--etcd-certfile=${client.cert}`,
      `--etcd-keyfile=${client.key}`,
    ],
    async removeEtcd() {
      await Promise.all(etcd.map((one) => one.remove()));
      network.close();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  });
}

async function startOnEmbeddedStore({ needsDisk, workers }: { needsDisk: boolean; workers: number }): Promise<Target> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-torture-'));
  const mount = ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'binnacle-torture', root];
  const disk = needsDisk && spawnSync('mount', mount).status === 0 ? root : undefined;
  const folder = path.join(root, 'data');
  const remove = (): void => {
    if (disk !== undefined) spawnSync('umount', ['-l', disk]);
    fs.rmSync(root, { recursive: true, force: true });
  };
  try {
    fs.mkdirSync(folder);
    const clockFile = path.join(root, 'clock');
    const flags = [`--workers=${workers}`];
    const server = await startServer(
      () => startTestServer({ folder, keepsConnections: true, clockFile, flags }),
      clockFile,
    );
    return {
      servers: [server],
      workers,
      etcd: [],
      network: undefined,
      folder,
      disk,
      async remove() {
        await server.kill().catch(() => undefined);
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

async function startServer(startOne: () => Promise<TestServer>, clockFile: string): Promise<TargetServer> {
  const deaths: string[] = [];
  let killed: TestServer | undefined;
  let started = (_server: Promise<TestServer>): void => undefined;
  const begin = async (): Promise<TestServer> => {
    const server = await startOne();
    void server.exited.then(() => {
      if (server === killed) return;
      deaths.push(`a server ended by itself:\n${server.log().slice(-MAX_LOG_LENGTH)}`);
      current = begin();
      // The next request for it fails as well.
      current.catch(() => undefined);
    });
    return server;
  };
  const signal = async (name: NonNullable<ChildProcess['signalCode']>): Promise<void> => {
    const { pid } = await current;
    try {
      process.kill(pid, name);
    } catch (error) {
      // It ended by itself meanwhile, which `deaths` tells.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  let current = begin();
  await current;
  return {
    deaths,
    running: () => current,
    signal,
    async shiftClock(offsetMs) {
      fs.writeFileSync(clockFile, String(offsetMs));
      await signal('SIGUSR2');
    },
    async kill() {
      killed = await current;
      current = new Promise((resolve) => (started = resolve));
      await killed.kill();
    },
    async start() {
      current = begin();
      started(current);
      await current;
    },
  };
}
