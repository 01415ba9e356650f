// All services that an etcd has.
import type { Clock } from '../lib/async/clock.js';
import type { EmbeddedStore } from '../kv/embedded/embedded.js';
import type { GrpcService } from './grpc/server.js';
import { headersFor, identityOf } from './header.js';
import type { SpaceAlarm } from './space-alarm.js';
import { authService } from './services/auth.js';
import { clusterService, type Member } from './services/cluster.js';
import { healthService } from './services/health.js';
import { kvService } from './services/kv.js';
import { leaseService } from './services/lease.js';
import { maintenanceService } from './services/maintenance.js';
import { watchService } from './services/watch.js';

export interface ServiceParts {
  readonly store: EmbeddedStore;
  readonly member: Member;
  readonly clock: Clock;
  readonly newLeaseId: () => bigint;
  readonly alarm: SpaceAlarm;
  /** etcd's `--max-request-bytes`. */
  readonly maxRequestBytes: number;
  /** etcd's `--max-txn-ops`. */
  readonly maxTxnOps: number;
  readonly progressPeriodMs: number;
  /** Where a snapshot lies while it is sent. */
  readonly scratchFolder: string;
  readonly isHealthy: () => Promise<boolean>;
}

export function etcdServices(parts: ServiceParts): Readonly<Record<string, GrpcService>> {
  const { store, member, clock, newLeaseId, alarm, maxRequestBytes, maxTxnOps, progressPeriodMs } = parts;
  const identity = identityOf(member.name);
  const header = headersFor(identity);
  const { mvcc } = store;
  return {
    'etcdserverpb.KV': kvService({ store, header, maxTxnOps, maxRequestBytes, alarm }),
    'etcdserverpb.Watch': watchService({ mvcc, header, clock, maxFragmentBytes: maxRequestBytes, progressPeriodMs }),
    'etcdserverpb.Lease': leaseService({ store, header, newId: newLeaseId }),
    'etcdserverpb.Maintenance': maintenanceService({ ...parts, header, identity }),
    'etcdserverpb.Cluster': clusterService(mvcc, header, identity, member),
    'etcdserverpb.Auth': authService(mvcc, header),
    'grpc.health.v1.Health': healthService(parts.isHealthy, clock),
  };
}
