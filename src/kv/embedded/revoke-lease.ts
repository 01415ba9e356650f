import { type Transaction, TransactionRefused } from './commits.js';

/** One of etcd's errors, by the name that src/etcd/faults.ts has for it. */
const LEASE_NOT_FOUND = 'leaseNotFound';

/** Ends a lease and deletes its keys, in one revision. */
export const revokeLease =
  (id: bigint): Transaction<void> =>
  (state) => {
    if (!state.hasLease(id)) throw new TransactionRefused(LEASE_NOT_FOUND);
    for (const key of state.keysOf(id)) state.delete(key);
    state.grants.set(id, undefined);
  };
