import { type LongTransaction, TransactionRefused } from './commits.js';

/** One of etcd's errors, by the name that src/etcd/faults.ts has for it. */
const LEASE_NOT_FOUND = 'leaseNotFound';
/** So many are looked up and deleted in a few milliseconds. */
export const KEYS_PER_STEP = 500;

/** Ends a lease and deletes its keys, in one revision. */
export const revokeLease = (id: bigint): LongTransaction<void> =>
  function* (state) {
    if (!state.hasLease(id)) throw new TransactionRefused(LEASE_NOT_FOUND);
    let visited = 0;
    for (const key of state.writtenWith(id)) {
      if (state.stored(key)?.lease === id) state.delete(key);
      if (++visited % KEYS_PER_STEP === 0) yield;
    }
    state.grants.set(id, undefined);
  };
