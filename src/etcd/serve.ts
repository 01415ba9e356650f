// An embedded store behind etcd's API.
import { randomBytes } from 'node:crypto';
import os from 'node:os';
import { type Clock, systemClock } from '../lib/async/clock.js';
import type { HttpHandler } from '../lib/http/http.js';
import type { EmbeddedStore } from '../kv/embedded/embedded.js';
import { grpcHandler, isGrpc } from './grpc/server.js';
import { httpPaths } from './http-paths.js';
import { type EtcdListener, type ListenAddress, listenForClients } from './listen.js';
import { readOnly } from './read-only.js';
import { etcdServices } from './services.js';
import { SpaceAlarm } from './space-alarm.js';
import type { Member } from './services/cluster.js';

/** etcd's defaults. */
const MAX_REQUEST_BYTES = 1.5 * 1024 * 1024;
const MAX_TXN_OPS = 128;
const PROGRESS_PERIOD_MS = 10 * 60_000;
/** What a message may have beside its request. */
const GRPC_OVERHEAD_BYTES = 512 * 1024;
const HEALTH_TIMEOUT_MS = 2_000;

export interface ServeEtcdOptions {
  readonly store: EmbeddedStore;
  readonly addresses: readonly ListenAddress[];
  /** Where /health, /version and /metrics are answered as well, and nothing else. */
  readonly metricsAddresses?: readonly ListenAddress[];
  /** Calls that change something are refused. */
  readonly isReadOnly?: boolean;
  /** The only one. */
  readonly member?: Member;
  /** A write that there was no room for refuses all that follow, until somebody disarms the alarm, as with etcd. */
  readonly alarmStays?: boolean;
  readonly maxRequestBytes?: number;
  readonly maxTxnOps?: number;
  /** A watch that asked for it hears how far it is when nothing else was sent for so long. */
  readonly progressPeriodMs?: number;
  /** Where a snapshot lies while it is sent. */
  readonly scratchFolder?: string;
  readonly clock?: Clock;
  /** What failed in a way that no client is to blame for. */
  readonly onError: (error: unknown) => void;
}

export async function serveEtcd(options: ServeEtcdOptions): Promise<EtcdListener> {
  const { store, addresses, metricsAddresses = [], maxRequestBytes = MAX_REQUEST_BYTES, onError } = options;
  const { mvcc } = store;
  const alarm = new SpaceAlarm(mvcc, { stays: options.alarmStays === true });
  const isHealthy = (): Promise<boolean> =>
    store.health({ timeoutMs: HEALTH_TIMEOUT_MS }).then(
      () => true,
      () => false,
    );
  const services = etcdServices({
    store,
    alarm,
    maxRequestBytes,
    isHealthy,
    newLeaseId,
    member: options.member ?? { name: 'default', clientUrls: [], peerUrls: [] },
    clock: options.clock ?? systemClock,
    maxTxnOps: options.maxTxnOps ?? MAX_TXN_OPS,
    progressPeriodMs: options.progressPeriodMs ?? PROGRESS_PERIOD_MS,
    scratchFolder: options.scratchFolder ?? os.tmpdir(),
  });
  const grpc = grpcHandler({
    services: options.isReadOnly === true ? readOnly(services) : services,
    maxMessageBytes: maxRequestBytes + GRPC_OVERHEAD_BYTES,
    onError,
  });
  const paths = httpPaths({ mvcc, alarm, isHealthy });
  const handler: HttpHandler = (request) => (isGrpc(request) ? grpc(request) : paths(request));
  const clients = await listenForClients(addresses, { handler, onError });
  if (metricsAddresses.length === 0) return clients;
  const metrics = await listenForClients(metricsAddresses, { handler: paths, onError });
  return {
    ports: clients.ports,
    async close(timeoutMs) {
      await Promise.all([clients.close(timeoutMs), metrics.close(timeoutMs)]);
    },
  };
}

const newLeaseId = (): bigint => BigInt.asUintN(63, randomBytes(8).readBigUInt64BE());
