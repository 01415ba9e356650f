// What clients saw of one round, in which they alone write the objects of a namespace. Moments are counted, not measured:
// the call of an operation that began after another one had returned has the larger number.

/** An object as an answer or an event shows it. Every write has a value that no other write has. */
export interface Version {
  readonly key: string;
  readonly revision: number;
  readonly uid: string;
  readonly value: string;
  /** Creates and updates set it to their value, patches and applies leave it as it is. */
  readonly base: string | undefined;
}

/** `unknown` is a write without an answer, or with one that leaves open whether it happened. */
export type Outcome = 'ok' | 'failed' | 'unknown';

export interface Write {
  readonly verb: 'create' | 'update' | 'patch' | 'apply' | 'delete';
  readonly key: string;
  /** Empty for a delete. */
  readonly value: string;
  /** The resourceVersion that the write demands. */
  readonly expected?: number | undefined;
  readonly beganAt: number;
  endedAt: number;
  outcome: Outcome;
  /** The beginning of an answer that is no success, for the report. */
  refusal?: string;
  /** What the answer shows: for a delete there is only the uid. */
  version?: Version;
  deletedUid?: string;
}

export interface Get {
  readonly key: string;
  readonly beganAt: number;
  readonly endedAt: number;
  /** Absent for 404. */
  readonly version: Version | undefined;
}

export interface List {
  readonly match: 'newest' | 'any' | 'notOlderThan' | 'exact';
  /** The resourceVersion that was asked for, 0 for none. */
  readonly wanted: number;
  readonly beganAt: number;
  readonly endedAt: number;
  /** One for a list without limit. */
  readonly pages: readonly { readonly revision: number; readonly items: readonly Version[] }[];
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly at: number;
  readonly revision: number;
  /** Absent for a bookmark. */
  readonly version?: Version;
}

/** What a watcher saw from one revision on, over all its reconnects; after a 410 it lists and begins another span. */
export interface Span {
  readonly watcher: string;
  /** The first event is after this one. */
  readonly from: number;
  readonly events: WatchEvent[];
}

export interface History {
  /** A revision at which there was no object. */
  readonly from: number;
  readonly writes: readonly Write[];
  readonly gets: readonly Get[];
  readonly lists: readonly List[];
  readonly spans: readonly Span[];
}

export type ViolationKind =
  | 'lost write'
  | 'write that was refused happened'
  | 'write happened twice'
  | 'object that nobody wrote'
  | 'precondition broken'
  | 'stale read'
  | 'resourceVersion went back'
  | 'contradiction'
  | 'missed event'
  | 'duplicate event'
  | 'event out of order'
  | 'event of the wrong type'
  | 'mixed pages'
  | 'list is not the state at its revision';

export interface Violation {
  readonly kind: ViolationKind;
  readonly text: string;
}
