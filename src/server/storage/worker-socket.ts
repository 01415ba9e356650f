// How worker processes reach the embedded store: worker 0 has it and serves it by etcd's API on a socket in the data folder.
import fs from 'node:fs';
import { serveEtcd } from '../../etcd/serve.js';
import type { EmbeddedStore } from '../../kv/embedded/embedded.js';
import { socketIn } from '../../kv/embedded/folder-holder.js';
import type { Logger } from '../../lib/telemetry/log.js';

const NAME = 'workers.sock';
/** The store itself says what is too large. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;
/** The others have ended before. */
const CLOSE_MS = 100;

/** Only this user may open it: whoever does reads and writes everything. Answers what ends it. */
export async function serveWorkers(store: EmbeddedStore, folder: string, log: Logger): Promise<() => Promise<void>> {
  const listener = await serveEtcd({
    store,
    addresses: [{ socketPath: workerSocket(folder) }],
    maxRequestBytes: MAX_REQUEST_BYTES,
    onError: (error) => log.error(error, 'A worker process could not be answered'),
  });
  return () => listener.close(CLOSE_MS);
}

/** The folder stays open as long as the process lives, for a path that is too long for a socket. */
export const workerSocket = (folder: string): string => socketIn(folder, fs.openSync(folder, 'r'), NAME);
