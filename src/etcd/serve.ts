// An embedded store behind etcd's API.
import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../lib/async/clock.js';
import type { HttpHandler } from '../lib/http/http.js';
import type { EmbeddedStore } from '../kv/embedded/embedded.js';
import { grpcHandler, isGrpc } from './grpc/server.js';
import { type EtcdListener, type ListenAddress, listenForClients } from './listen.js';
import { etcdServices } from './services.js';

/** etcd's default. */
const MAX_REQUEST_BYTES = 1.5 * 1024 * 1024;
/** What a message may have beside its request. */
const GRPC_OVERHEAD_BYTES = 512 * 1024;

export interface ServeEtcdOptions {
  readonly store: EmbeddedStore;
  readonly addresses: readonly ListenAddress[];
  /** Of the only member. */
  readonly name?: string;
  readonly maxRequestBytes?: number;
  readonly maxTxnOps?: number;
  readonly progressPeriodMs?: number;
  readonly clock?: Clock;
  /** What failed in a way that no client is to blame for. */
  readonly onError: (error: unknown) => void;
}

export async function serveEtcd(options: ServeEtcdOptions): Promise<EtcdListener> {
  const {
    store,
    addresses,
    name = 'default',
    maxRequestBytes = MAX_REQUEST_BYTES,
    clock = systemClock,
    onError,
  } = options;
  const services = etcdServices({ ...options, name, clock, newLeaseId, maxRequestBytes, store });
  const grpc = grpcHandler({ services, maxMessageBytes: maxRequestBytes + GRPC_OVERHEAD_BYTES, onError });
  const handler: HttpHandler = (request) => (isGrpc(request) ? grpc(request) : NOT_FOUND());
  return listenForClients(addresses, { handler, onError });
}

const NOT_FOUND = (): { status: number; headers: Record<string, string>; body: string } => ({
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: '404 page not found\n',
});

const newLeaseId = (): bigint => BigInt.asUintN(63, randomBytes(8).readBigUInt64BE());
