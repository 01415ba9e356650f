// What is tortured: servers that can be killed, started again and paused, on the store that is asked for.
import { type ChildProcess, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type EtcdProcess, etcdPrograms } from '../etcd-process.js';
import { startControlPlane } from '../support/control-plane.js';
import { startTestServer, type TestServer } from '../support/server.js';

const DISK_BYTES = 256 * 1024 * 1024;
const MAX_LOG_LENGTH = 2000;

export type StoreName = 'embedded' | 'etcd';

export interface Target {
  readonly servers: readonly TargetServer[];
  /** Absent with the embedded store. */
  readonly etcd: EtcdProcess | undefined;
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
  /** kill -9. */
  kill(): Promise<void>;
  start(): Promise<void>;
  signal(name: NonNullable<ChildProcess['signalCode']>): Promise<void>;
}

export async function startTarget(options: {
  readonly store: StoreName;
  readonly servers: number;
  readonly needsDisk: boolean;
}): Promise<Target> {
  if (options.store === 'embedded') return startOnEmbeddedStore(options.needsDisk);
  const [etcd] = etcdPrograms();
  if (etcd === undefined) throw new Error('there is no etcd: run `node tools/fetch-test-binaries.mjs`');
  const controlPlane = await startControlPlane(etcd.program);
  try {
    const servers: TargetServer[] = [];
    for (let i = 0; i < options.servers; i++)
      servers.push(await startServer(() => controlPlane.start([], undefined, true)));
    return {
      servers,
      etcd: controlPlane.etcd,
      folder: undefined,
      disk: undefined,
      remove: () => controlPlane.remove(),
    };
  } catch (error) {
    await controlPlane.remove();
    throw error;
  }
}

async function startOnEmbeddedStore(needsDisk: boolean): Promise<Target> {
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
    const server = await startServer(() => startTestServer({ folder, keepsConnections: true }));
    return {
      servers: [server],
      etcd: undefined,
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

async function startServer(startOne: () => Promise<TestServer>): Promise<TargetServer> {
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
  let current = begin();
  await current;
  return {
    deaths,
    running: () => current,
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
    async signal(name) {
      const { pid } = await current;
      try {
        process.kill(pid, name);
      } catch (error) {
        // It ended by itself meanwhile, which `deaths` tells.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    },
  };
}
