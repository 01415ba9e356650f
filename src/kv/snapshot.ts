// Everything that a store holds at one revision: what a backup is written from, and a new store is filled with.
import type { KeyValue } from './kv.js';

export interface SnapshotEntry extends KeyValue {
  /** The key, encoded: etcd's clients may use keys that are no text. */
  readonly name: Buffer;
  /** How often it was written since it was created, and then. */
  readonly version: number;
  /** When the key is to be deleted; 0: never. */
  readonly expiresAtMs: number;
}

export interface Snapshot {
  readonly revision: number;
  /** How many keys it has. */
  readonly keys: number;
  /** In key order; may be read once. Fails with `damaged` where not everything is as it was written. */
  pages(): AsyncIterable<readonly SnapshotEntry[]>;
  close(): Promise<void>;
}
