// etcd's Lease service.
import type { EmbeddedStore } from '../../kv/embedded/embedded.js';
import { revokeLease } from '../../kv/embedded/revoke-lease.js';
import {
  LEASE_GRANT_REQUEST,
  LEASE_GRANT_RESPONSE,
  LEASE_ID,
  LEASE_KEEP_ALIVE_RESPONSE,
  LEASE_TIME_TO_LIVE_REQUEST,
  LEASE_TIME_TO_LIVE_RESPONSE,
  LEASES_RESPONSE,
} from '../../kv/etcd/messages/lease.js';
import { HEADER_ONLY } from '../../kv/etcd/messages/maintenance.js';
import { etcdFault, refusal, storeCall } from '../faults.js';
import type { GrpcService } from '../grpc/server.js';
import type { HeaderOf } from '../header.js';

/** As etcd's with its default election timeout. */
const MIN_TTL_SECONDS = 2;
const MAX_TTL_SECONDS = 9_000_000_000;

export interface LeaseParts {
  readonly store: EmbeddedStore;
  readonly header: HeaderOf;
  /** Of a lease whose client does not choose: 63 random bits. */
  readonly newId: () => bigint;
}

export function leaseService({ store: { mvcc }, header, newId }: LeaseParts): GrpcService {
  const grant = async (ttlSeconds: number, chosen: bigint): Promise<{ id: bigint; ttl: number }> => {
    if (ttlSeconds > MAX_TTL_SECONDS) throw etcdFault('leaseTtlTooLarge');
    const ttl = Math.max(MIN_TTL_SECONDS, ttlSeconds);
    const { result: id } = await storeCall(
      mvcc.transact((state) => {
        let free = chosen;
        while (free === 0n) free = newId();
        if (state.hasLease(free)) throw refusal('leaseExists');
        state.grants.set(free, ttl);
        return free;
      }),
    );
    return { id, ttl };
  };

  const timeToLive = (id: bigint, wantsKeys: boolean): Buffer => {
    const lease = mvcc.leases.find(id);
    const head = { header: header(mvcc.revision), id };
    if (lease === undefined) return LEASE_TIME_TO_LIVE_RESPONSE.encode({ ...head, ttl: -1 });
    const keys = wantsKeys ? mvcc.leases.namesOf(id, (name) => Buffer.from(name)) : [];
    const ttl = Math.floor(lease.remainingMs / 1000);
    return LEASE_TIME_TO_LIVE_RESPONSE.encode({ ...head, ttl, grantedTtl: lease.ttlSeconds, keys });
  };

  return {
    unary: {
      async LeaseGrant(message) {
        const { ttl, id } = LEASE_GRANT_REQUEST.decode(message);
        const granted = await grant(ttl, id);
        return LEASE_GRANT_RESPONSE.encode({ header: header(mvcc.revision), ...granted });
      },
      async LeaseRevoke(message) {
        const { id } = LEASE_ID.decode(message);
        const { revision } = await storeCall(mvcc.transactInSteps(revokeLease(id)));
        return HEADER_ONLY.encode({ header: header(revision) });
      },
      LeaseTimeToLive(message) {
        const { id, keys } = LEASE_TIME_TO_LIVE_REQUEST.decode(message);
        return timeToLive(id, keys);
      },
      LeaseLeases: () =>
        LEASES_RESPONSE.encode({
          header: header(mvcc.revision),
          leases: [...mvcc.leases.ids].map((id) => ({ id })),
        }),
    },
    streams: {
      async LeaseKeepAlive(call) {
        for await (const message of call.messages) {
          const { id } = LEASE_ID.decode(message);
          const answer = { header: header(mvcc.revision), id, ttl: mvcc.leases.keepAlive(id) ?? 0 };
          if (!call.send([LEASE_KEEP_ALIVE_RESPONSE.encode(answer)])) await call.drained();
        }
      },
    },
  };
}
