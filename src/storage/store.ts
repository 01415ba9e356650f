// What the registry sees of storage: one resource's objects, as bytes with a revision.
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { SizedWork } from '../lib/scheduling/sized-work.js';
import { type StepGenerator, Yielder } from '../lib/scheduling/yield.js';
import type { GroupResource } from '../machinery/status.js';
import type { KubeObject } from '../machinery/object.js';
import type { Trace } from '../tracing/trace.js';
import type { Labels } from './label-sets.js';
import { metadataHas } from './scan-json.js';

/** One stored version of one object. Shared by every reader: nothing in it is ever changed. */
export interface StoredObject {
  /** Below the resource's prefix: `namespace/name` or `name`. */
  readonly key: string;
  readonly revision: number;
  /** The object's JSON in its storage version, `metadata.resourceVersion` in place, ready to send. */
  readonly json: Buffer;
  /** Of `json`, in bytes. */
  readonly size: number;
  /**
   * Copies the JSON from an offset on, and answers how many bytes; where they need not be made a buffer for it. `isKept`:
   * the same list will probably be wanted again, and the store need not be read for it.
   */
  copyJson?(target: Buffer, at: number, from: number, isKept: boolean): number;
  /** Whether the metadata has a member of one of these names, but the resourceVersion; where no buffer need be made for that. */
  hasMetadata?(names: readonly string[]): boolean;
  /** Parsed on first call, then shared: read only. */
  object(): KubeObject;
  /** The parsed object; a large one is parsed cooperatively. While the result is held, object() answers it at once. */
  load?(): MaybePromise<KubeObject>;
  /** The object in a form (by identity), where that is kept. */
  encoded?(form: object): Buffer | undefined;
  /** A copy of what the object is in a form, which is kept while there is room; undefined where none is. */
  keepEncoded?(form: object, bytes: Buffer): Buffer | undefined;
  /**
   * What was written to a store that keeps another form than JSON, in that form, without a resourceVersion. Only of what this
   * process wrote, and until all watches have its event.
   */
  readonly storedForm?: Buffer | undefined;
  /** What selectors look at, extracted once. */
  readonly labels: Readonly<Record<string, string>>;
  /** The value of a selectable field; empty where it has none. */
  field(name: string): string;
}

/** Whether an object's metadata has a member of one of these names, but the resourceVersion. Nothing is parsed for it. */
export const hasMetadata = (stored: StoredObject, names: readonly string[]): boolean =>
  stored.hasMetadata?.(names) ?? metadataHas(stored.json, names);

/** The parsed object; yields to the event loop while it parses a large one. */
export const loaded = (stored: StoredObject): MaybePromise<KubeObject> => stored.load?.() ?? stored.object();

/** The object as JSON; a large one is encoded cooperatively. */
export function encodedBy(codec: ObjectCodec, object: KubeObject, work: SizedWork): MaybePromise<Buffer> {
  const pieces = work.isLarge ? codec.encodePieces?.(object) : undefined;
  return pieces === undefined ? codec.encodeJson(object) : work.run(pieces);
}

/** All parsed objects; yields to the event loop where they are many or large. */
export async function loadedAll(items: readonly StoredObject[]): Promise<KubeObject[]> {
  const yielder = new Yielder();
  const objects: KubeObject[] = [];
  for (const [at, item] of items.entries()) {
    const object = loaded(item);
    objects.push(object instanceof Promise ? await object : object);
    if (at % LOADED_PER_STEP === LOADED_PER_STEP - 1) await yielder.yieldIfDue();
  }
  return objects;
}

const LOADED_PER_STEP = 16;

/** How a resource's objects become bytes and back. */
export interface ObjectCodec {
  /** The JSON encoding of an object in normal form. */
  encodeJson(object: KubeObject): Buffer;
  /** The JSON encoding of an object in normal form, in steps, for large objects. */
  encodePieces?(object: KubeObject): StepGenerator<Buffer>;
  decodeJson(bytes: Buffer): KubeObject;
  /** Whether an object in normal form is not what its JSON decodes to: an empty list is stored as none. Absent: never. */
  isStoredAsOther?(object: KubeObject): boolean;
  /** The object that JSON decodes to, in steps; undefined where decoding in steps is not possible. */
  readonly decodePieces?: (bytes: Buffer) => StepGenerator<KubeObject | undefined>;
  /** For stores that keep a media type of their own (etcd: protobuf, or what `--storage-media-type` says). */
  encodeStorage(object: KubeObject, mediaType: string): Buffer;
  decodeStorage(bytes: Buffer): KubeObject;
  /** Stored JSON as it reads today, for kinds whose form may have changed since it was written (custom resources). */
  renew?(json: Buffer): Buffer;
  /** renew() of a large value, without keeping others waiting; undefined for what is small. */
  renewLarge?(json: Buffer): MaybePromise<Buffer> | undefined;
  /** renew() of what another build of this server stored: it may have left out what has a default today. */
  renewOlder?(json: Buffer): Buffer;
}

export interface ResourceStoreOptions {
  readonly resource: GroupResource;
  /** `/registry/pods/`: where this resource's keys lie; ends with a slash. */
  readonly prefix: string;
  /** The part of the prefix that all resources have in common: traces leave it out. */
  readonly root?: string;
  readonly namespaced: boolean;
  readonly codec: ObjectCodec;
  /** Of a custom resource, whose stored form is not that of built-in ones. */
  readonly custom?: boolean;
  /** The selectable fields of an object; metadata.name and metadata.namespace are added by the store. */
  readonly fieldsOf: (object: KubeObject) => Record<string, string>;
  /**
   * A selectable field whose objects are found by their value, not by looking at all: `spec.nodeName`. It is a string
   * that stands in the stored object under the names it is made of.
   */
  readonly indexedField?: string;
  /** Others that stand there so: they are read without parsing the object. */
  readonly textFields?: readonly string[];
  /** How messages name the type of its objects: `*core.Secret`. */
  readonly typeName?: string;
  /**
   * Objects that cannot be read may be deleted unseen, so errors name all of them. A get's error leaves out the root
   * of all keys.
   */
  readonly unsafeDeletion?: { readonly root: string };
}

export type ResourceVersionMatch = '' | 'Exact' | 'NotOlderThan';

/** True for the objects a list or watch wants. */
export type Predicate = (object: StoredObject) => boolean;

/** A value that a field of all wanted objects has: where the field is indexed, others are not looked at. */
export interface FieldValue {
  readonly field: string;
  readonly value: string;
}

/** Which of the objects in its range a list or watch wants. */
export interface Selection {
  /** Absent when everything matches. */
  readonly predicate?: Predicate;
  /** Conditions that the predicate has, too. */
  readonly fieldValues?: readonly FieldValue[];
  /** The predicate's condition on labels: evaluated once for objects that share a label set. */
  readonly labels?: (labels: Labels) => boolean;
}

/** The request without its selection: everything in its range. */
export function unselected<R extends Selection>(request: R): Omit<R, keyof Selection> {
  const { predicate: _predicate, fieldValues: _values, labels: _labels, ...rest } = request;
  return rest;
}

export interface ListRequest extends Selection {
  /** Only keys below this namespace; empty for all. */
  readonly namespace: string;
  /** Only this name (a `metadata.name` field selector); empty for all. */
  readonly name?: string;
  /** As sent: '' (most recent), '0' (any), or a revision. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: ResourceVersionMatch;
  /** 0: no limit. */
  readonly limit: number;
  readonly continue: string;
  /** The whole predicate as text: lists with equal text select the same objects. Absent where lists are not shared. */
  readonly selector?: string;
  readonly trace?: Trace | undefined;
}

export interface StoreWriteOptions {
  readonly ttlSeconds?: number;
  readonly trace?: Trace | undefined;
}

export interface ListResult {
  readonly items: readonly StoredObject[];
  /** The list's resourceVersion. */
  readonly revision: number;
  /** Empty when this is the last page. */
  readonly continue: string;
  readonly remainingItemCount?: number;
  /** The same list was asked for not long ago, when it had other items. */
  readonly isRepeated?: boolean;
}

export type WatchEvent = SharedFrames &
  (
    | {
        readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
        readonly object: StoredObject;
        /** What a MODIFIED object was before. */
        readonly previous?: StoredObject | undefined;
      }
    /** `initialEventsEnd` marks the end of the initial events of a streaming list. */
    | { readonly type: 'BOOKMARK'; readonly revision: number; readonly initialEventsEnd?: boolean }
  );

interface SharedFrames {
  /** The event as bytes, by who encoded it: one event is sent to many. */
  frames?: Map<object, MaybePromise<Buffer>> | undefined;
}

export interface WatchRequest extends Selection {
  readonly namespace: string;
  readonly name?: string;
  /** '' (from now, initial state first), '0' (any state first), or after a revision. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: ResourceVersionMatch;
  readonly allowBookmarks: boolean;
  readonly sendInitialEvents?: boolean;
  readonly signal: AbortSignal;
  /** When the watch will time out (milliseconds since the epoch): a last bookmark goes out shortly before. */
  readonly timeoutAtMs?: number;
  /** Awaited between chunks of the initial events, so that a large state does not pile up at a slow receiver. */
  readonly drained?: () => Promise<void> | undefined;
}

/**
 * A running watch. Events are handed to the receiver in revision order as they happen, in one call for all that are
 * ready, so that a receiver can write them together. The receiver returns false when its buffer is full: the watch
 * then ends, as one that fell behind. `ended` resolves when the watch is over (aborted, fell behind, or the
 * history it needs is gone: then with the error to report).
 */
export interface Watch {
  readonly ended: Promise<StorageError | undefined>;
}

export interface EncodedWriteOptions extends StoreWriteOptions {
  /** The object's encoding without its resourceVersion, where the caller has it already. */
  readonly json?: Buffer;
  /** An update makes what is missing: it is recorded as the update's write. */
  readonly byUpdate?: boolean;
}

export interface ResourceStore {
  readonly options: ResourceStoreOptions;
  /** `minRevision`: '' for the most recent, '0' for any, or not older than. */
  get(key: string, minRevision: string, trace?: Trace): Promise<StoredObject | undefined>;
  /** The most recent version, as part of a write, which has a span of its own. */
  getForUpdate(key: string, trace?: Trace): Promise<StoredObject | undefined>;
  /** Fails with `key-exists`. */
  create(key: string, object: KubeObject, options?: EncodedWriteOptions): Promise<StoredObject>;
  /** Fails with `conflict` (carrying the current version) when the stored revision is another. */
  update(
    key: string,
    expectedRevision: number,
    object: KubeObject,
    options?: EncodedWriteOptions,
  ): Promise<StoredObject>;
  /**
   * Whether the stored value is not in the form, or not encrypted, as it would be written now: an update that changes
   * nothing is then written all the same. Fails with `conflict` when the stored revision is another; `certain` says that
   * it is known not to be.
   */
  isStale(key: string, revision: number, certain: boolean): MaybePromise<boolean>;
  /** Answers the deleted object as its last event shows it: with the deletion's revision. */
  delete(key: string, expectedRevision: number, trace?: Trace): Promise<StoredObject>;
  /** Deletes what is stored there if it cannot be read; answers whether it did, in a dry run whether it would. */
  deleteUnreadable(key: string, dryRun: boolean): Promise<boolean>;
  list(request: ListRequest): Promise<ListResult>;
  watch(request: WatchRequest, receive: (events: readonly WatchEvent[]) => boolean): Promise<Watch>;
  /** The number of stored objects, for metrics and quota. */
  count(): Promise<number>;
  /** Fulfilled when reads can be answered and watches begin; fails with what is in their way. */
  ready(): Promise<void>;
  /** Present where lists and watches come from a watch cache. */
  readonly local?: LocalReads | undefined;
  /** Present where this store shows the objects of another one in a version of its own. */
  readonly view?: StoreView;
}

/** What a watch cache answers without waiting. */
export interface LocalReads {
  /** True when `getCached` answers for every stored object. */
  readonly isAuthoritative: boolean;
  /** True when it is known that nothing is stored. */
  readonly isEmpty: boolean;
  /** How much there is, where that is known. */
  readonly amount: { readonly objects: number; readonly bytes: number } | undefined;
  /** The most recent version where it is in memory; undefined when only `get` can answer. */
  getCached(key: string): StoredObject | undefined;
  /** The most recent versions of all objects of a namespace, or of all for '', where they are in memory. */
  listCached(namespace: string): readonly StoredObject[] | undefined;
  /** The version in memory, where `getCached` has no answer; it may be older than the stored version. */
  getMaybeStale(key: string): StoredObject | undefined;
  /**
   * All objects of a namespace, or of all for '', as they are in memory: they may be older than the stored versions, but
   * not older than what this process wrote.
   */
  listMaybeStale(namespace: string): readonly StoredObject[] | undefined;
}

export interface StoreView {
  /** The store that has the objects. */
  readonly base: ResourceStore;
  /** What an object would read as once stored. */
  dryRunResult(object: KubeObject): Promise<KubeObject>;
}

/** A store with its lifecycle, for the code that opens it; the registry sees only ResourceStore. */
export interface ManagedResourceStore extends ResourceStore {
  /** Ends its watches and its own watch of the key-value store. */
  close(): void;
}

export type StorageErrorCode =
  | 'key-exists'
  | 'not-found'
  /** The stored revision is not the expected one. */
  | 'conflict'
  /** The requested revision has been compacted. */
  | 'too-old'
  /** The requested revision is ahead of the store. */
  | 'too-new'
  | 'invalid-continue'
  /** A continue token whose revision is compacted; `inconsistentContinue` goes on at the newest state. */
  | 'expired-continue'
  | 'unavailable'
  /** There is no room for what is to be written. */
  | 'no-space'
  | 'corrupt'
  /** A list met objects that cannot be read, and names them all. */
  | 'unreadable-list'
  /** A write cannot be encrypted as it has to be. */
  | 'encryption-failed'
  /** The cache is not filled, and something unreadable keeps it so. */
  | 'initializing'
  /** The object could not be converted from, or into, the version it is stored in. */
  | 'conversion'
  | 'too-large';

/** What is wrong with a stored value. */
export interface StoredValueFault {
  /** Below the resource's prefix. */
  readonly key: string;
  readonly revision: number;
  /** It cannot be decrypted, or what was inside is no object. */
  readonly what: 'encrypted' | 'content';
  readonly cause: string;
}

export class StorageError extends Error {
  constructor(
    readonly code: StorageErrorCode,
    message: string,
    readonly details: {
      readonly current?: StoredObject;
      readonly currentRevision?: number;
      readonly requestedRevision?: number;
      readonly inconsistentContinue?: string;
      readonly fault?: StoredValueFault | undefined;
      /** By the full key; without one for what is said of the rest. */
      readonly unreadable?: readonly { readonly field: string; readonly message: string }[];
      readonly retryAfterSeconds?: number;
    } = {},
  ) {
    super(message);
  }
}
