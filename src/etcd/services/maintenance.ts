// etcd's Maintenance service.
import type { EmbeddedStore } from '../../kv/embedded/embedded.js';
import { STATUS_RESPONSE } from '../../kv/etcd/messages/maintenance.js';
import { storeCall } from '../faults.js';
import type { GrpcService } from '../grpc/server.js';
import { type HeaderOf, type Identity, RAFT_TERM } from '../header.js';

/** The version of etcd whose API this is. */
const ETCD_VERSION = '3.5.16';

export interface MaintenanceParts {
  readonly store: EmbeddedStore;
  readonly header: HeaderOf;
  readonly identity: Identity;
}

export function maintenanceService({ store, header, identity }: MaintenanceParts): GrpcService {
  const { mvcc } = store;
  return {
    unary: {
      async Status() {
        const { revision } = mvcc;
        const dbSize = await storeCall(store.sizeBytes());
        return STATUS_RESPONSE.encode({
          header: header(revision),
          version: ETCD_VERSION,
          dbSize,
          dbSizeInUse: dbSize,
          leader: identity.memberId,
          raftIndex: revision,
          raftAppliedIndex: revision,
          raftTerm: RAFT_TERM,
        });
      },
    },
  };
}
