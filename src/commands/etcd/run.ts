// `binnacle etcd`: from its command line to its end.
import path from 'node:path';
import { startAutoCompaction } from '../../etcd/auto-compaction.js';
import { serveEtcd } from '../../etcd/serve.js';
import { ETCD_VERSION } from '../../etcd/services/maintenance.js';
import { type EmbeddedStore, openEmbeddedStore } from '../../kv/embedded/embedded.js';
import { KvError } from '../../kv/kv.js';
import { systemClock } from '../../lib/async/clock.js';
import { createLogs, type Logger, type Logs } from '../../lib/telemetry/log.js';
import { errorText } from '../../lib/text/error-text.js';
import { keepHeap } from '../../server/lifecycle/keep-heap.js';
import { CommandFailure, type CommandParts, EXIT } from '../command.js';
import { addressesOf } from './addresses.js';
import { type EtcdFlags, readEtcdFlags } from './flags.js';
import { retentionOf } from './retention.js';

const CLOSE_TIMEOUT_MS = 2_000;
/** etcd's. */
const DEFAULT_QUOTA_BYTES = 2 * 1024 ** 3;
const LEVELS = ['debug', 'info', 'warn', 'error', 'panic', 'fatal'];

export async function runEtcd(args: readonly string[], { env, print }: CommandParts): Promise<number> {
  const flags = readEtcdFlags(args, env);
  if (flags.version) {
    print(`etcd Version: ${ETCD_VERSION}\n`);
    return EXIT.done;
  }
  const logs = logsFor(flags);
  const log = logs.for('etcd');
  /** Not for those who want to hear only of what is wrong. */
  const info = (message: string, fields?: Readonly<Record<string, string>>): void => {
    if (LEVELS.indexOf(flags.logLevel) <= LEVELS.indexOf('info')) log.info(message, fields);
  };
  const retention = retentionOf(flags.autoCompactionMode, flags.autoCompactionRetention);
  const addresses = addressesOf(flags.listenClientUrls, flags, log);
  const metricsAddresses = addressesOf(flags.listenMetricsUrls, flags, log);
  const folder = path.resolve(flags.dataDir === '' ? `${flags.name}.etcd` : flags.dataDir);
  const store = await openStore(folder, flags, log);
  const stopping = new AbortController();
  keepHeap(stopping.signal);
  try {
    const stopCompaction = retention && startAutoCompaction({ store, retention, clock: systemClock, log: info });
    const listener = await serveEtcd({
      store,
      addresses,
      metricsAddresses,
      member: {
        name: flags.name,
        clientUrls: flags.advertiseClientUrls.length > 0 ? flags.advertiseClientUrls : flags.listenClientUrls,
        peerUrls: flags.initialAdvertisePeerUrls,
      },
      alarmStays: true,
      maxRequestBytes: flags.maxRequestBytes,
      maxTxnOps: flags.maxTxnOps,
      progressPeriodMs: progressPeriodMs(flags),
      scratchFolder: folder,
      onError: (error) => log.error(error, 'A call failed'),
    });
    const served = flags.listenClientUrls.map((url, i) => url.replace(/:0\/?$/, `:${listener.ports[i] ?? 0}`));
    info('ready to serve client requests', { urls: served.join(','), 'data-dir': folder });
    logs.flush();
    await firstSignal();
    stopCompaction?.();
    await listener.close(CLOSE_TIMEOUT_MS);
  } catch (error) {
    throw error instanceof CommandFailure ? error : new CommandFailure(errorText(error));
  } finally {
    stopping.abort();
    await store.close();
    logs.flush();
  }
  return EXIT.done;
}

async function openStore(
  folder: string,
  { unsafeNoFsync, quotaBackendBytes }: EtcdFlags,
  log: Logger,
): Promise<EmbeddedStore> {
  try {
    return await openEmbeddedStore({
      folder,
      // History is kept until a client compacts, or --auto-compaction-retention says so.
      historyMs: 0,
      writer: 'etcd',
      noSync: unsafeNoFsync,
      quotaBytes: quotaBackendBytes < 0 ? undefined : quotaBackendBytes || DEFAULT_QUOTA_BYTES,
      log,
    });
  } catch (error) {
    throw error instanceof KvError ? new CommandFailure(error.message) : error;
  }
}

function logsFor({ logLevel, logger, logFormat, logOutputs }: EtcdFlags): Logs {
  const level = LEVELS.indexOf(logLevel);
  if (level < 0) throw new CommandFailure(`--log-level is one of ${LEVELS.join(', ')}, not ${logLevel}`);
  const [output = 'default', ...others] = logOutputs;
  if (others.length > 0 || !['default', 'stderr', 'stdout'].includes(output)) {
    throw new CommandFailure(`--log-outputs is one of default, stderr and stdout, not ${logOutputs.join(',')}`);
  }
  return createLogs({
    verbosity: level === 0 ? 4 : 0,
    format: logger === 'text' || logFormat === 'console' ? 'text' : 'json',
    write: (_, text) => void process[output === 'stdout' ? 'stdout' : 'stderr'].write(text),
  });
}

const progressPeriodMs = (flags: EtcdFlags): number =>
  flags.setFlags.has('experimental-watch-progress-notify-interval')
    ? flags.experimentalWatchProgressNotifyIntervalMs
    : flags.watchProgressNotifyIntervalMs;

const firstSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
