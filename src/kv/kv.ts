// The key-value contract: bytes under ordered keys, every change with a revision.
//
// One sequence of revisions counts the changes of the whole store; a new store is at revision 1 and its first change
// makes revision 2. The embedded store, etcd and the memory store all pass the suite in kv.contract.ts.

import type { Trace } from '../tracing/trace.js';

export interface KeyValue {
  readonly key: string;
  readonly value: Buffer;
  /** The revision of the change that made this version. */
  readonly modRevision: number;
  readonly createRevision: number;
}

export interface RangeRequest {
  /** First key wanted. */
  readonly start: string;
  /** First key no longer wanted. */
  readonly end: string;
  /** Reads the state as it was after this revision; absent for the latest. */
  readonly revision?: number;
  /** The largest number of keys to answer; absent or 0 for all. */
  readonly limit?: number;
  /** Answers no keys, only how many there are. */
  readonly countOnly?: boolean;
  /** The request's trace; a remote store receives its context. */
  readonly trace?: Trace | undefined;
}

export interface RangeResult {
  /** The store's revision at the time of the read (also when a past one was read). */
  readonly revision: number;
  readonly kvs: readonly KeyValue[];
  /** How many keys lie in the whole range, beyond the limit too. */
  readonly count: number;
}

export interface WriteOptions {
  readonly trace?: Trace | undefined;
  /** The key is deleted, as by anyone, when this time has passed since the write. */
  readonly ttlSeconds?: number;
}

/** A write that was refused because the key is not at the expected revision answers what is there instead. */
export type WriteResult =
  | { readonly done: true; readonly revision: number }
  | { readonly done: false; readonly revision: number; readonly current: KeyValue | undefined };

export interface KvEvent {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly revision: number;
  /** Empty for a delete. A store in this process hands over the very buffer the writer gave. */
  readonly value: Buffer;
  /** Of the key after a put; 0 for a delete. */
  readonly createRevision: number;
  /** The version that this event replaced or deleted; only for watches that request it. */
  readonly previous: KeyValue | undefined;
}

export interface WatchKeysRequest {
  readonly prefix: string;
  /** The first revision wanted; absent for what happens from now on. */
  readonly startRevision?: number;
  /** Whether events carry the previous version. */
  readonly previous?: boolean;
}

export interface ChangesRequest {
  readonly prefix: string;
  /** The first revision wanted. */
  readonly startRevision: number;
  /** The last revision wanted; the store has reached it. */
  readonly endRevision: number;
  /** Of the values that were written or replaced; the change that exceeds it is the last of the page. */
  readonly maxBytes: number;
  /** Aborted when nobody waits for the page any more. */
  readonly signal?: AbortSignal;
}

export interface ChangesPage {
  /** In revision order, each with the version that it replaced. */
  readonly events: readonly KvEvent[];
  /** The page has every change of the prefix up to this revision; never less than `startRevision`. */
  readonly upTo: number;
}

export interface KvWatchReceiver {
  /** In revision order, without gap or repeat. The next batch comes when a returned promise is fulfilled. */
  events(batch: readonly KvEvent[]): void | Promise<void>;
  /** Everything up to and with this revision has been handed over. */
  progress(revision: number): void;
  /** The watch is over: `compacted` when its revisions are gone. Short outages are ridden out inside the watch. */
  failed(error: KvError): void;
}

export interface KvWatch {
  cancel(): void;
}

export interface KeyValueStore {
  /**
   * True for a store in this process, or shared between processes of this server: an event reaches its watches before the
   * write is answered, so what has been received is never behind what has been answered, but where `isBehind` says so.
   */
  readonly local: boolean;
  /** What lies there since this revision or before was written by another build of this server; absent where any may have. */
  readonly olderRevision?: number;
  get(
    key: string,
    options?: { readonly revision?: number; readonly trace?: Trace | undefined },
  ): Promise<KeyValue | undefined>;
  /**
   * The value of a key at the revision that watches know it at, as a view that the next read may change: it is to be
   * copied at once. Only a store that never has to wait has this; what was replaced is known as long as its history.
   */
  currentValue?(key: string, modRevision: number): Buffer | undefined;
  /** In key order. */
  range(request: RangeRequest): Promise<RangeResult>;
  /**
   * True while the watches of a local store may not have received something under this prefix that others know of already:
   * `revision` waits until they have. Only a store that is shared between processes has this method.
   */
  isBehind?(prefix: string): boolean;
  /** The latest revision; of a local store at once, and never ahead of what its watches have received. */
  revision(trace?: Trace): Promise<number>;
  /** Refused when the key exists. */
  create(key: string, value: Buffer, options?: WriteOptions): Promise<WriteResult>;
  /** Refused when the key is not at `modRevision`. Clears an earlier time-to-live unless `options` sets one. */
  update(key: string, modRevision: number, value: Buffer, options?: WriteOptions): Promise<WriteResult>;
  delete(key: string, modRevision: number, trace?: Trace): Promise<WriteResult>;
  /** A store in this process hands over what lies in the past before it answers, however much that is. */
  watch(request: WatchKeysRequest, receiver: KvWatchReceiver): KvWatch;
  /**
   * One page of history, for a reader at its own speed: as many changes as fit, and perhaps none though there are more.
   * Fails with `compacted`. Absent where the store cannot say that a page is whole.
   */
  changes?(request: ChangesRequest): Promise<ChangesPage>;
  /**
   * True where all writes after one revision, up to and with another, are known to be of this process, and of keys that do not
   * begin with the prefix: nothing under it has changed in between. Only a store that others write to as well has this method.
   */
  isUnchanged?(prefix: string, after: number, upTo: number): boolean;
  /** Whether `requestProgress` reliably leads to `progress` on watches. */
  supportsProgressRequests(): boolean;
  /** Requests `progress` soon on all watches; false when the store does not send it reliably. */
  requestProgress(): boolean;
  /** Drops what only reads and watches of revisions before this one need. */
  compact(revision: number): Promise<void>;
  /** The oldest revision that can still be read; 0 when unknown. */
  compactedRevision(): number;
  sizeBytes(): Promise<number>;
  /**
   * Writes everything, as of one revision, into a new data folder, while others read and write. Only a store in this process
   * has this method.
   */
  backup?(folder: string): Promise<void>;
  /** Whether one of its servers was connected within so long; absent where there are none. */
  reached?(withinMs: number): Promise<boolean>;
  /** Fulfils when the store accepts reads and writes; rejects with the reason. */
  health(options: { readonly timeoutMs: number; readonly signal?: AbortSignal }): Promise<void>;
  close(): Promise<void>;
}

export type KvErrorCode =
  /** The requested revision has been compacted. */
  | 'compacted'
  /** The requested revision is ahead of the store. */
  | 'future-revision'
  /** The store cannot be reached, or not in time; a write may or may not have happened. */
  | 'unavailable'
  | 'closed'
  /** Another process has the data folder. */
  | 'locked'
  /** The data folder was written by a newer program. */
  | 'newer-format'
  | 'damaged'
  | 'disk-full'
  | 'too-large'
  /** The store refuses this client: credentials or permissions. */
  | 'denied';

/** A key whose value is not what was written. It can still be deleted, at this revision. */
export interface DamagedRecord {
  readonly key: string;
  readonly revision: number;
}

export class KvError extends Error {
  constructor(
    readonly code: KvErrorCode,
    message: string,
    readonly details: {
      readonly compactedRevision?: number;
      readonly currentRevision?: number;
      /** With `damaged`: the records, when the others can be read. */
      readonly records?: readonly DamagedRecord[];
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
  }
}

export const compacted = (revision: number, compactedRevision: number): KvError =>
  new KvError('compacted', `revision ${revision} has been compacted (oldest is ${compactedRevision})`, {
    compactedRevision,
  });

export const futureRevision = (revision: number, currentRevision: number): KvError =>
  new KvError('future-revision', `revision ${revision} is ahead of the store (at ${currentRevision})`, {
    currentRevision,
  });

/** The first key after all keys that start with the prefix. */
export function prefixEnd(prefix: string): string {
  const last = prefix.length - 1;
  if (last < 0) return '\uffff';
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}
