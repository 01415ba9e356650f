// What the embedded store can do beyond the key-value contract, for whoever serves it as etcd: transactions of several changes,
// ranges and watches between any two keys, versions and leases. Keys are byte keys (byte-key.ts) here.
import type { Change } from './change.js';
import type { ChangesInRange, PageOfChanges } from './changes.js';
import type { LongTransaction, Transaction, TransactionResult } from './commits.js';
import type { Defragmented } from './defragment.js';
import type { Leases } from './leases.js';
import type { KeyRange, RangePages } from './range.js';
import type { Version } from './records.js';

export interface Followed {
  readonly start: string;
  /** First key no longer wanted; absent where there is no end. */
  readonly end: string | undefined;
  /** Changes before this revision are not wanted. */
  readonly startRevision: number;
}

export interface Mvcc {
  /** The newest that was handed to followers. */
  readonly revision: number;
  /** Revisions before this one cannot be read any more. */
  readonly compacted: number;
  /** Only what makes room is accepted. */
  readonly isFull: boolean;
  /** The most that may be in use; Infinity where the disk alone is the limit. */
  readonly quotaBytes: number;
  readonly leases: Pick<Leases, 'has' | 'ids' | 'size' | 'find' | 'keepAlive' | 'namesOf'>;
  /** Of the file, and of what is in use of it. */
  size(): { readonly bytes: number; readonly usedBytes: number };
  transact<T>(transaction: Transaction<T>): Promise<TransactionResult<T>>;
  transactInSteps<T>(transaction: LongTransaction<T>): Promise<TransactionResult<T>>;
  /** Where commits are held back: fulfilled when this one may be known. Undefined where it may be. */
  released(revision: number): Promise<void> | undefined;
  /** The newest version of one key, which may not be released. */
  get(key: string): { readonly revision: number; readonly version: Version | undefined };
  /** As it was after a revision; 0 for the newest. Fails with `compacted` and `future-revision`. */
  range<T, P>(range: KeyRange<T, P>, revision: number): Promise<RangePages<P> & { readonly revision: number }>;
  /** A page of history. Fails with `compacted`. */
  changes(request: ChangesInRange): Promise<PageOfChanges>;
  /** Calls with the changes of each commit that are in the range, from now on, before the commit's writers are answered. */
  follow(request: Followed, receive: (changes: readonly Change[]) => void): { cancel(): void };
  /** Gives back to the file system what is free in the file, while others read and write. */
  defragment(): Promise<Defragmented>;
}
