// How worker processes reach the embedded store: worker 0 has it and shares it on a socket in the data folder.
import fs from 'node:fs';
import net, { type Socket } from 'node:net';
import type { EmbeddedStore } from '../../kv/embedded/embedded.js';
import { socketIn } from '../../kv/embedded/folder-lock.js';
import type { KeyValueStore } from '../../kv/kv.js';
import { shareStore } from '../../kv/shared/owner.js';
import { openReplicaStore } from '../../kv/shared/replica.js';
import type { Logger } from '../../lib/telemetry/log.js';

const NAME = 'workers.sock';

export interface ServeWorkersOptions {
  readonly store: EmbeddedStore;
  readonly folder: string;
  /** Worker processes that were there before this one. */
  readonly earlier: readonly number[];
  readonly log: Logger;
}

/** Only this user may open it: whoever does reads and writes everything. Answers what ends it. */
export async function serveWorkers({ store, folder, earlier, log }: ServeWorkersOptions): Promise<() => Promise<void>> {
  const onError = (error: unknown): void => log.error(error, 'A worker process could not be answered');
  const owner = shareStore({ store, leased: earlier, onError });
  const server = net.createServer((socket) => owner.accept(socket));
  const path = workerSocket(folder);
  // A process that was killed leaves its socket behind. The data folder's lock says that no other process has it.
  fs.rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  fs.chmodSync(path, 0o600);
  await owner.mayServe;
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    owner.close();
    await closed;
  };
}

/** The store that worker 0 has, in another worker. */
export function reachWorkerStore(folder: string): Promise<KeyValueStore> {
  const path = workerSocket(folder);
  return openReplicaStore({ pid: process.pid, connect: () => connected(net.connect(path)) });
}

const connected = (socket: Socket): Promise<Socket> =>
  new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });

/** The folder stays open as long as the process lives, for a path that is too long for a socket. */
const workerSocket = (folder: string): string => socketIn(folder, fs.openSync(folder, 'r'), NAME);
