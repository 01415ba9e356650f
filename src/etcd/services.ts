// All services that an etcd has.
import type { Clock } from '../lib/async/clock.js';
import type { EmbeddedStore } from '../kv/embedded/embedded.js';
import type { GrpcService } from './grpc/server.js';
import { headersFor, identityOf } from './header.js';
import { kvService } from './services/kv.js';
import { leaseService } from './services/lease.js';
import { maintenanceService } from './services/maintenance.js';
import { watchService } from './services/watch.js';

/** etcd's default. */
const MAX_TXN_OPS = 128;

export interface ServiceParts {
  readonly store: EmbeddedStore;
  /** Of this member. */
  readonly name: string;
  readonly clock: Clock;
  readonly newLeaseId: () => bigint;
  /** etcd's `--max-request-bytes`. */
  readonly maxRequestBytes: number;
  /** etcd's `--max-txn-ops`. */
  readonly maxTxnOps?: number;
  readonly progressPeriodMs?: number;
}

export function etcdServices(parts: ServiceParts): Readonly<Record<string, GrpcService>> {
  const { store, name, clock, newLeaseId, maxRequestBytes, maxTxnOps = MAX_TXN_OPS, progressPeriodMs } = parts;
  const identity = identityOf(name);
  const header = headersFor(identity);
  const { mvcc } = store;
  return {
    'etcdserverpb.KV': kvService({ store, header, maxTxnOps, maxRequestBytes }),
    'etcdserverpb.Watch': watchService({ mvcc, header, clock, maxFragmentBytes: maxRequestBytes, progressPeriodMs }),
    'etcdserverpb.Lease': leaseService({ store, header, newId: newLeaseId }),
    'etcdserverpb.Maintenance': maintenanceService({ store, header, identity }),
  };
}
