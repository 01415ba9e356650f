// The transaction of the key-value contract: a change of one key that is at an expected revision.
import type { Transaction } from './commits.js';
import type { Version } from './records.js';

export interface WriteRequest {
  /** A byte key. */
  readonly key: string;
  /** The revision the key must be at; 0 when it must not be there. */
  readonly expected: number;
  /** Absent for a delete. */
  readonly value: Buffer | undefined;
  readonly ttlSeconds: number;
}

export type WriteOutcome = { readonly done: true } | { readonly done: false; readonly current: Version | undefined };

const DONE: WriteOutcome = { done: true };

// hot: every write
export const writeKey =
  ({ key, expected, value, ttlSeconds }: WriteRequest): Transaction<WriteOutcome> =>
  (state) => {
    const current = state.stored(key);
    if ((current?.modRevision ?? 0) !== expected) {
      return { done: false, current: current?.isDamaged === true ? undefined : current };
    }
    const expiresAtMs = ttlSeconds > 0 ? state.atMs + ttlSeconds * 1000 : 0;
    if (value === undefined) state.delete(key);
    else state.put(key, value, { expiresAtMs, lease: 0n });
    return DONE;
  };
