// One throwaway cluster: a server with its objects in memory and its keys in a folder that goes with it.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type MemorySnapshot, type MemoryStore, openMemoryStore } from '../../kv/memory.js';
import { errorText } from '../../lib/text/error-text.js';
import { withTimeout } from '../../lib/async/with-timeout.js';
import { parseCommandLine } from '../../options/parse-command-line.js';
import type { Options } from '../../options/options.js';
import { buildServer } from '../../server/build-server.js';
import { configurationHooks } from '../../server/configuration-hooks.js';
import { freePort } from '../../server/listener/free-port.js';
import type { RunningServer } from '../../server/server.js';
import { createServerLogs } from '../../server/telemetry/logs.js';
import type { ClusterFacts, StartRequest } from '../protocol/control.js';
import { auditFlags, readAudit } from './audit-trail.js';
import { clusterFlags } from './cluster-flags.js';
import { ControlError } from './control-error.js';
import { Faults } from './faults.js';
import { Snapshots } from './snapshots.js';

const PORT_TAKEN = 'address already in use';
const MAX_ATTEMPTS = 5;
/** Requests that are under way, to a webhook that hangs for one, are not waited for longer. */
const MAX_STOP_MS = 2_000;

export interface ThrowawayCluster {
  readonly facts: ClusterFacts;
  readonly snapshots: Snapshots;
  readonly faults: Faults;
  /** What it was started with, and where its keys are: a fork has the same. */
  readonly origin: Origin;
  /** Every request that was answered, oldest first. */
  audit(): readonly unknown[];
  stop(): Promise<void>;
}

export interface Origin {
  readonly folder: string;
  readonly request: StartRequest;
}

export interface StartParts {
  readonly id: string;
  /** Its own, and empty. */
  readonly folder: string;
  readonly request: StartRequest;
  /** The state to begin with, and the cluster whose it is. */
  readonly from?: { readonly state: MemorySnapshot; readonly origin: Origin };
}

/** Of values that were written or replaced: beyond these, watches and pages of the past expire. */
const MAX_HISTORY_BYTES = 32 * 1024 * 1024;

export async function startCluster({ id, folder, request, from }: StartParts): Promise<ThrowawayCluster> {
  // Tokens and certificates that were issued in the state are good in it.
  if (from !== undefined)
    fs.cpSync(path.join(from.origin.folder, 'pki'), path.join(folder, 'pki'), { recursive: true });
  const openStore = (): MemoryStore =>
    openMemoryStore({ maxHistoryBytes: MAX_HISTORY_BYTES, ...(from !== undefined && { from: from.state }) });
  const token = randomBytes(24).toString('base64url');
  const tokenFile = path.join(folder, 'tokens.csv');
  fs.writeFileSync(tokenFile, `${token},admin,admin,"system:masters"\n`, { mode: 0o600 });
  const logPath = path.join(folder, 'server.log');
  const log = openLog(logPath);
  const running = await startServer({
    flags: [
      `--data-dir=${folder}`,
      `--token-auth-file=${tokenFile}`,
      ...auditFlags(folder, request.auditLevel ?? 'Metadata'),
      ...clusterFlags(request.flags ?? []),
    ],
    write: log.write,
    openStore,
  }).catch((error: unknown) => {
    log.close();
    throw error;
  });
  const { server, options, store, faults } = running;
  const kubeconfigPath = path.join(folder, 'admin.kubeconfig');
  return {
    facts: {
      id,
      url: `https://${options.secureServing.bindAddress}:${server.listener.port}`,
      kubeconfig: fs.readFileSync(kubeconfigPath, 'utf8'),
      kubeconfigPath,
      token,
      ca: fs.readFileSync(path.join(folder, 'pki', 'ca.crt'), 'utf8'),
      logPath,
    },
    snapshots: new Snapshots(store),
    faults,
    origin: { folder, request },
    audit: () => readAudit(folder),
    async stop() {
      // Clients find their connections closed, as when a server dies: waiting for each to leave takes seconds.
      await server.listener.close(0);
      await withTimeout(server.shutdown(), { ms: MAX_STOP_MS, onTimeout: () => undefined });
      log.close();
    },
  };
}

/** What ends late has nowhere to log to. */
function openLog(file: string): { readonly write: ServerStart['write']; readonly close: () => void } {
  let descriptor: number | undefined = fs.openSync(file, 'a', 0o600);
  return {
    write: (_stream, text) => {
      if (descriptor !== undefined) fs.writeSync(descriptor, text);
    },
    close: () => {
      if (descriptor !== undefined) fs.closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

interface ServerStart {
  readonly flags: readonly string[];
  readonly openStore: () => MemoryStore;
  readonly write: (stream: 1 | 2, text: string) => void;
}

/** Between looking for a free port and listening, another process may take it. */
async function startServer(start: ServerStart): Promise<Started> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(start);
    } catch (error) {
      if (error instanceof ControlError) throw error;
      if (attempt >= MAX_ATTEMPTS || !errorText(error).includes(PORT_TAKEN)) {
        throw new ControlError(500, `the server did not start: ${errorText(error)}`);
      }
    }
  }
}

interface Started {
  readonly server: RunningServer;
  readonly options: Options;
  readonly store: MemoryStore;
  readonly faults: Faults;
}

async function startOnce({ flags, write, openStore }: ServerStart): Promise<Started> {
  const port = await freePort('127.0.0.1');
  const command = parseCommandLine([`--secure-port=${port}`, ...flags], process.env, configurationHooks);
  if (command.kind === 'refused') throw new ControlError(400, command.lines.join('\n'));
  if (command.kind === 'print') throw new ControlError(400, 'a cluster takes flags of a server that serves');
  const { options } = command;
  const logs = createServerLogs(options, write);
  const store = openStore();
  const faults = new Faults(store);
  const server = await buildServer(options, logs, { store, faults, sharesProcess: true });
  await server.started;
  return { server, options, store, faults };
}
