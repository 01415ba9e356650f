// The key-value stores: the embedded one, or etcd, with another etcd for some resources where the flags say so.
import crypto from 'node:crypto';
import { buildStamp } from '../../machinery/build-stamp.js';
import { featureGateNames } from '../../machinery/feature-gates.js';
import { openEmbeddedStore } from '../../kv/embedded/embedded.js';
import { openEtcdStore } from '../../kv/etcd/etcd.js';
import { markerKey } from '../../kv/fill-store.js';
import type { KeyValueStore } from '../../kv/kv.js';
import { withTimeout } from '../../lib/async/with-timeout.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { type GroupResource } from '../../machinery/status.js';
import type { Options } from '../../options/options.js';
import { unreachedStoreMistake } from '../../options/startup-checks.js';
import type { Dialer } from '../../outbound/dialer.js';
import { StartFailure } from '../lifecycle/start-failure.js';
import { reachWorkerStore, serveWorkers } from './worker-socket.js';

export interface Stores {
  /** Where a resource's objects are kept. */
  of(resource: GroupResource): KeyValueStore;
  /** Keeps objects as they are served, and not as kube-apiserver keeps them. */
  isEmbedded(store: KeyValueStore): boolean;
  /** The embedded one, or the etcd of all resources without one of their own. */
  readonly main: KeyValueStore;
  /** Every store, by the servers it is reached at; one without servers is the embedded one. */
  readonly all: ReadonlyMap<string, KeyValueStore>;
  /** A check of each store, by the name component statuses show; it rejects when the store is not well. */
  checks(timeoutMs: number): Readonly<Record<string, () => Promise<void>>>;
  close(): Promise<void>;
}

/** A store that is slower than this has no migration under way, which writes to it. */
const MARKER_WITHIN_MS = 2_000;
/** A start without its etcd fails, rather than serving an empty store. */
const REACH_MS = 20_000;

/** One of several processes that are one server. */
export interface SharingProcess {
  readonly isFirst: boolean;
  readonly index: number;
  readonly count: number;
  /** Those that were there before it. */
  readonly earlier: readonly number[];
}

export interface OpenStoresParts {
  /** The way to etcd. */
  readonly dialer: Dialer;
  readonly log: Logger;
  /** Opened already, in place of the embedded one. */
  readonly opened?: KeyValueStore | undefined;
  /** Where several processes are one server: whether this one has the embedded store, which the others reach through it. */
  readonly sharing?: SharingProcess | undefined;
}

export async function openStores(options: Options, parts: OpenStoresParts): Promise<Stores> {
  const { dialer, log } = parts;
  const closers: (() => Promise<void>)[] = [];
  const main = options.embeddedStore
    ? await openEmbedded(options, parts, closers)
    : openEtcd(options, options.etcd.etcdServers, dialer, log);
  const all = new Map<string, KeyValueStore>([[options.etcd.etcdServers.join(','), main]]);
  const overrides = new Map<string, KeyValueStore>();
  for (const text of options.etcd.etcdServersOverrides) {
    const [resource = '', servers = ''] = text.split('#');
    const list = servers.split(';');
    const store = all.get(list.join(',')) ?? openEtcd(options, list, dialer, log);
    all.set(list.join(','), store);
    overrides.set(resource, store);
  }
  const reached = await Promise.all([...all.values()].map(async (store) => store.reached?.(REACH_MS)));
  if (reached.includes(false)) {
    await Promise.all([...all.values()].map((store) => store.close()));
    throw new StartFailure(unreachedStoreMistake(options));
  }
  if (!options.embeddedStore && (await isUnfinished(main, options.etcd.etcdPrefix))) {
    await Promise.all([...all.values()].map((store) => store.close()));
    throw new StartFailure({ error: UNFINISHED, exitCode: 1 });
  }
  return {
    main,
    all,
    isEmbedded: (store) => options.embeddedStore && store === main,
    of: ({ group, resource }) => overrides.get(`${group}/${resource}`) ?? main,
    checks: (timeoutMs) =>
      Object.fromEntries([...all.values()].map((store, i) => [`etcd-${i}`, () => store.health({ timeoutMs })])),
    async close() {
      for (const close of closers) await close();
      await Promise.all([...all.values()].map((store) => store.close()));
    },
  };
}

const UNFINISHED = 'a migration into this etcd was not finished: run `binnacle migrate` again, and wait for its end';

/** What lies there is a part of what is to be. A store that does not answer is met by whoever reads it first. */
const isUnfinished = (store: KeyValueStore, prefix: string): Promise<boolean> =>
  withTimeout(
    store.get(markerKey(prefix)).then(
      (marker) => marker !== undefined,
      () => false,
    ),
    { ms: MARKER_WITHIN_MS, onTimeout: () => false },
  );

/** What is to be closed before the store is added to `closers`. */
async function openEmbedded(
  options: Options,
  { log, opened, sharing }: OpenStoresParts,
  closers: (() => Promise<void>)[],
): Promise<KeyValueStore> {
  if (opened !== undefined) return opened;
  const { dataDir: folder } = options;
  if (sharing?.isFirst === false) return reachWorkerStore(folder);
  const historyMs = options.etcd.etcdCompactionIntervalMs;
  const quotaBytes = options.binnacle.storeQuotaBytes || undefined;
  const store = await openEmbeddedStore({ folder, historyMs, quotaBytes, writer: writerOf(options), log });
  if (sharing !== undefined) closers.push(await serveWorkers({ store, folder, earlier: sharing.earlier, log }));
  return store;
}

/** Another build, or one with other gates, fills in other defaults. */
function writerOf({ featureGates }: Options): string {
  const gates = featureGateNames().filter((gate) => featureGates.enabled(gate));
  const hash = crypto.createHash('sha256').update(gates.join()).digest('base64url');
  return `${buildStamp.commit} ${buildStamp.date} ${hash}`;
}

function openEtcd({ etcd }: Options, servers: readonly string[], dialer: Dialer, log: Logger): KeyValueStore {
  return openEtcdStore({
    servers,
    dialer,
    ...(etcd.etcdCafile !== '' && { caFile: etcd.etcdCafile }),
    ...(etcd.etcdCertfile !== '' && { certFile: etcd.etcdCertfile }),
    ...(etcd.etcdKeyfile !== '' && { keyFile: etcd.etcdKeyfile }),
    prefix: etcd.etcdPrefix,
    compactionIntervalMs: etcd.etcdCompactionIntervalMs,
    leaseReuseSeconds: etcd.leaseReuseDurationSeconds,
    log,
  });
}
