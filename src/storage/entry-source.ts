// What all entries of one resource share.
import type { KeyValueStore } from '../kv/kv.js';
import { EncodedBytes } from './encoded-bytes.js';
import { LabelSets } from './label-sets.js';
import { storageError } from './errors.js';
import { Recent } from './recent.js';
import type { ResourceStoreOptions } from './store.js';
import { TextFields } from './text-fields.js';
import { unreadable } from './unreadable.js';

/** A store that answers at once, so that what it has need not be kept in memory. */
export type StoredBytes = Required<Pick<KeyValueStore, 'currentValue'>>;

/** The current objects of one resource, by key. */
export interface ServedEntries {
  get(key: string): unknown;
  /** Cooperatively. */
  releaseEncodings(): Promise<void>;
}

export class EntrySource {
  readonly labelSets = new LabelSets();
  /** Where the indexed field stands in an object. */
  readonly indexedPath: readonly string[] | undefined;
  readonly textFields: TextFields;
  #served: ServedEntries | undefined;

  constructor(
    readonly options: ResourceStoreOptions,
    /** Absent where bytes are kept in memory. */
    readonly stored?: StoredBytes,
    /** Shared by all resources, as is `recent`; by default nothing is kept. */
    readonly encoded: EncodedBytes = new EncodedBytes(0),
    readonly recent: Recent = new Recent(0, 0),
  ) {
    this.indexedPath = options.indexedField?.split('.');
    this.textFields = new TextFields(options.textFields ?? []);
  }

  /** From now on the cache answers with these, by which encodings are kept; those of what it had before are released. */
  serve<T extends ServedEntries | undefined>(entries: T): T {
    void this.#served?.releaseEncodings();
    this.#served = entries;
    return entries;
  }

  /** Others (of deleted, replaced and uncached objects) are read once more at most, and nobody would release what is kept. */
  keepsEncodingsOf(key: string, entry: unknown): boolean {
    return this.#served?.get(key) === entry;
  }

  /** The value of an entry that was left to the store; it is to be copied before anything else is read. */
  // hot: every object that is not in memory
  read(key: string, revision: number): Buffer {
    const full = this.options.prefix + key;
    let value: Buffer | undefined;
    try {
      value = this.stored?.currentValue(full, revision);
    } catch (error) {
      throw storageError(error, this.options);
    }
    if (value !== undefined) return value;
    throw unreadable(this.options, { key, revision }, new Error(`the store has lost ${full} at ${revision}`));
  }
}
