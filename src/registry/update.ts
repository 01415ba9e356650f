import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { type SizedWork, workOn } from '../lib/scheduling/sized-work.js';
import { goQuote } from '../lib/go/quote.js';
import { conflict, invalid, notFound, STALE_OBJECT, StatusError } from '../machinery/status.js';
import { FieldPath, invalid as invalidField } from '../machinery/field-error.js';
import type { KubeObject } from '../machinery/object.js';
import { isSameTree } from '../schema/deep-equal.js';
import { noteUnchanged, recordUpdate } from '../storage/record.js';
import { encodesTo } from '../storage/splice.js';
import { loaded, type StoredObject, StorageError } from '../storage/store.js';
import type { Span, Trace } from '../tracing/trace.js';
import type { LifeContext, Transaction } from './kind.js';
import { type AdmitCreate, type AdmitUpdate, requestedKey, type ResourceRegistry, unstored } from './registry.js';
import { sizeHint } from '../machinery/size-hint.js';
import { fillSystemFields } from './system-fields.js';
import { revert, ttlOf } from './create.js';
import { checkDeadline } from './deadline.js';
import { findForWrite, findObject } from './list.js';
import { prepareUpdate, prepareCreate } from './prepare-write.js';
import { encodeStored, reusableEncoding } from './encode-stored.js';
import { removeMarked } from './remove.js';
import { fromStorage } from './storage-status.js';
import { timedWrite } from './timed-write.js';
import type { Hold } from './keyed-queue.js';

export interface UpdateRequest {
  readonly name: string;
  /** '' for the object itself, `status` or another subresource that writes it. */
  readonly endpoint: string;
  /**
   * The wanted object made from the current one (absent when there is none), in the storage version. Called again
   * with the newer object when another writer came first. The result belongs to this call.
   */
  readonly change: (current: Readonly<KubeObject> | undefined, found: Found) => MaybePromise<KubeObject>;
  /** Bytes sent. Work on an object that is large as sent or as stored yields to the event loop between its steps. */
  readonly bytes?: number;
  /** The current object must have this uid, and this version. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  /** A missing object is created, whatever the kind says (server-side apply). */
  readonly createMissing?: boolean;
  readonly context: LifeContext;
  readonly admitCreate: AdmitCreate;
  readonly admitUpdate: AdmitUpdate;
}

/** What a change is made to. */
export interface Found {
  readonly stored: StoredObject | undefined;
  /** The larger of what was sent and what is stored. */
  readonly bytes: number;
}

export interface UpdateResult {
  readonly stored: StoredObject;
  readonly created: boolean;
}

/** Reads, changes and writes, queued behind other updates of the object. */
export async function update(registry: ResourceRegistry, request: UpdateRequest): Promise<UpdateResult> {
  const key = requestedKey(registry, request.context.namespace, request.name);
  const acquired = registry.updateQueue.acquire(key);
  const hold = acquired instanceof Promise ? await acquired : acquired;
  const { trace, dryRun } = request.context;
  const span = dryRun ? undefined : recordUpdate(trace, registry.store.options, key);
  const queued: Update = { request, key, hold, trace: span ?? trace, span };
  try {
    if (acquired instanceof Promise) checkDeadline(request.context);
    return await updateQueued(registry, queued);
  } finally {
    span?.end();
    registry.updateQueue.release(queued.hold);
  }
}

// hot: beside the request, because a copy of the request with more members is expensive.
interface Update {
  readonly request: UpdateRequest;
  readonly key: string;
  hold: Hold;
  /** Of the update; admission is under the request's. */
  readonly trace: Trace | undefined;
  /** Absent where nothing is recorded, or nothing written. */
  readonly span: Span | undefined;
}

/**
 * Tries again when another writer came between all the same: another server, or a hook that writes the object that it
 * reviews. A remote store need not be read first: the write itself finds out. What is decided by a cached object stands
 * if that object is not stale.
 */
async function updateQueued(registry: ResourceRegistry, queued: Update): Promise<UpdateResult> {
  const { span, key } = queued;
  const { name, context } = queued.request;
  const newest = (): Promise<StoredObject | undefined> => newestOf(registry, queued);
  // hot: the cache of a store in this process has what the store would answer.
  const local = context.dryRun ? undefined : registry.store.local;
  const cached = local?.getMaybeStale(key);
  let current = cached ?? local?.getCached(key) ?? (await newest());
  let certain = cached === undefined;
  if (current !== undefined || mayCreate(registry, queued.request)) span?.event('initial value restored');
  for (;;) {
    try {
      return await attempt(registry, queued, current, certain);
    } catch (error) {
      if (isRace(error)) {
        checkDeadline(queued.request.context);
        const { hold } = queued;
        queued.hold = await registry.updateQueue.reacquire(hold);
        current = queued.hold === hold ? (error.details.current ?? (await newest())) : await newest();
        span?.event('Retry value restored');
      } else {
        // What the store itself failed at may have happened: it is not made again, and 409 would deny it.
        if (certain || error instanceof StorageError) throw fromStorage(error, registry.resource, name);
        const found = await newest();
        if (found?.revision === current?.revision) throw fromStorage(error, registry.resource, name);
        current = found;
      }
      certain = true;
      queued.hold.extended = false;
    }
  }
}

/** A dry run reads as anybody does; a write's reads are its own. */
const newestOf = (registry: ResourceRegistry, { request, key, trace }: Update): Promise<StoredObject | undefined> =>
  (request.context.dryRun ? findObject : findForWrite)(registry, key, request.name, trace);

const mayCreate = ({ kind }: ResourceRegistry, { createMissing }: UpdateRequest): boolean =>
  kind.strategy.allowCreateOnUpdate === true || createMissing === true;

const isRace = (error: unknown): error is StorageError =>
  error instanceof StorageError &&
  (error.code === 'conflict' || error.code === 'key-exists' || error.code === 'not-found');

async function attempt(
  registry: ResourceRegistry,
  queued: Update,
  current: StoredObject | undefined,
  certain: boolean,
): Promise<UpdateResult> {
  const { request, key } = queued;
  if (current === undefined) {
    if (!mayCreate(registry, request)) throw notFound(registry.resource, request.name);
    // What would be created is not the object that the client has the uid of.
    checkUid(registry, request, key, '');
    return { stored: await createByUpdate(registry, queued), created: true };
  }
  const found = Math.max(request.bytes ?? 0, current.size);
  const reading = workOn(found);
  queued.hold.extended = reading.isLarge;
  const loading = loaded(current);
  const old = loading instanceof Promise ? await loading : loading;
  if (reading.isLarge) await reading.pause();
  checkUid(registry, request, key, old.metadata.uid ?? '');
  checkResourceVersion(registry, request, key, String(current.revision));
  const changing = request.change(old, { stored: current, bytes: found });
  const object = changing instanceof Promise ? await changing : changing;
  const bytes = found + sizeHint(object);
  const work = workOn(bytes);
  if (work.isLarge) await work.pause();
  matchResourceVersion(registry, request.name, object, current);
  const beginning = begin(registry, request, object, old);
  const transaction = beginning && (await beginning);
  try {
    const preparing = prepareUpdate(registry, request, object, { current, old, bytes });
    const encoded = preparing && (await preparing);
    if (work.isLarge) await work.pause();
    const admitting = request.admitUpdate(object, old);
    if (admitting !== undefined) await admitting;
    if (work.isLarge) await work.pause();
    const reusable = reusableEncoding(registry, object, encoded);
    const stored = removedByUpdate(registry, object, old)
      ? await removeEmptied(registry, { request, key, object, current })
      : await put(registry, queued, { object, current, old, work, encoded: reusable, certain });
    if (transaction !== undefined) await transaction.commit();
    return { stored, created: false };
  } catch (error) {
    await revert(transaction);
    throw error;
  }
}

function begin(
  { kind }: ResourceRegistry,
  { endpoint, context }: UpdateRequest,
  object: KubeObject,
  old: Readonly<KubeObject>,
): MaybePromise<Transaction | undefined> {
  if (endpoint === '') return kind.strategy.transaction?.beginUpdate?.(object, old, context);
  if (endpoint === 'status') return kind.strategy.status?.begin?.(object, old, context);
  return kind.subresources?.[endpoint]?.update?.begin?.(object, old, context);
}

async function createByUpdate(registry: ResourceRegistry, { request, key, trace }: Update): Promise<StoredObject> {
  const { context } = request;
  const sent = request.bytes ?? 0;
  const object = await request.change(undefined, { stored: undefined, bytes: sent });
  const bytes = sent + sizeHint(object);
  const work = workOn(bytes);
  fillSystemFields(registry, object);
  const transaction = await registry.kind.strategy.transaction?.beginCreate?.(object, context);
  try {
    const preparing = prepareCreate(registry, object, context, bytes);
    const encoded = preparing && (await preparing);
    await work.pause();
    await request.admitCreate(object);
    await work.pause();
    const reusable = reusableEncoding(registry, object, encoded);
    delete object.metadata.resourceVersion;
    const isEncodedFirst = work.isLarge && !context.dryRun;
    const json = reusable ?? (isEncodedFirst ? await encodeStored(registry, object, work) : undefined);
    const options = { ttlSeconds: ttlOf(registry, object, context), trace, byUpdate: true, json };
    const stored = context.dryRun
      ? await unstored(registry, key, object, work)
      : await timedWrite(context, () => registry.store.create(key, object, options));
    await transaction?.commit();
    return stored;
  } catch (error) {
    await revert(transaction);
    throw error;
  }
}

function checkUid(registry: ResourceRegistry, request: UpdateRequest, key: string, found: string): void {
  const { uid } = request;
  if (uid === undefined || uid === '' || uid === found) return;
  throw notAsStated(registry, request, key, failedPrecondition('UID', uid, found));
}

function checkResourceVersion(registry: ResourceRegistry, request: UpdateRequest, key: string, found: string): void {
  const { resourceVersion } = request;
  if (resourceVersion === undefined || resourceVersion === '' || resourceVersion === found) return;
  throw notAsStated(registry, request, key, failedPrecondition('ResourceVersion', resourceVersion, found));
}

/** kube-apiserver reports its store's own words, which clients have come to match; a dry run leaves out the root. */
function notAsStated(
  { resource, store: { options } }: ResourceRegistry,
  { name, context }: UpdateRequest,
  key: string,
  why: string,
): StatusError {
  const place = context.dryRun ? options.prefix.slice(options.root?.length ?? 0) : options.prefix;
  const what = `invalid object, Code: 4, Key: ${place}${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
  return conflict(resource, name, `StorageError: ${what}`);
}

export const failedPrecondition = (what: 'UID' | 'ResourceVersion', wanted: string, found: string): string =>
  `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;

/** An update states the version it was made from, or, where the kind allows it, none and overwrites the newest. */
function matchResourceVersion(
  registry: ResourceRegistry,
  name: string,
  object: KubeObject,
  current: StoredObject,
): void {
  const { resource } = registry;
  const stated = object.metadata.resourceVersion ?? '';
  if (stated === String(current.revision)) return;
  if (stated === '' || /^0+$/.test(stated)) {
    if (registry.kind.strategy.allowUnconditionalUpdate === false) {
      const error = invalidField(FieldPath.of('metadata', 'resourceVersion'), 0, 'must be specified for an update');
      throw invalid({ group: resource.group, kind: resource.resource }, name, [error]);
    }
    object.metadata.resourceVersion = String(current.revision);
    return;
  }
  if (!/^\d+$/.test(stated)) {
    throw new StatusError(500, '', `strconv.ParseUint: parsing ${goQuote(stated)}: invalid syntax`);
  }
  if (Number(stated) !== current.revision) throw conflict(resource, name, STALE_OBJECT);
}

/** An update that removes the last finalizer of a deleted object deletes the object. */
function removedByUpdate(registry: ResourceRegistry, object: KubeObject, old: Readonly<KubeObject>): boolean {
  if ((object.metadata.finalizers?.length ?? 0) > 0) return false;
  if (old.metadata.deletionTimestamp === undefined) return false;
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false;
  return registry.kind.strategy.delete?.staysAfterUpdate?.(object) !== true;
}

interface EmptiedObject {
  readonly request: UpdateRequest;
  readonly key: string;
  readonly object: KubeObject;
  readonly current: StoredObject;
}

async function removeEmptied(
  registry: ResourceRegistry,
  { request, key, object, current }: EmptiedObject,
): Promise<StoredObject> {
  if (!request.context.dryRun) await removeMarked(registry, key, current, request.context);
  return unstored(registry, key, object, workOn(current.size));
}

interface PreparedUpdate {
  readonly object: KubeObject;
  readonly current: StoredObject;
  /** What `current` decodes to. */
  readonly old: Readonly<KubeObject>;
  readonly work: SizedWork;
  /** What the object encodes to, where that is known. */
  readonly encoded: Buffer | undefined;
  /** `current` is what the store has, not what a cache has of it. */
  readonly certain: boolean;
}

async function put(registry: ResourceRegistry, queued: Update, prepared: PreparedUpdate): Promise<StoredObject> {
  const { object, current, work, encoded, certain } = prepared;
  const { store } = registry;
  const { request, key, trace, span } = queued;
  const { metadata } = object;
  metadata.resourceVersion = String(current.revision);
  if (request.context.dryRun) return unstored(registry, key, object, work);
  // An update that changes nothing writes nothing, so that it wakes no watcher; unless it moves what is stored to the
  // key that encrypts now, which is how keys are rotated.
  const isKnown = span === undefined && isKnownUnchanged(prepared);
  // hot: no object is stored with it, and none need be copied without it.
  metadata.resourceVersion = undefined;
  const encoding = isKnown ? undefined : (encoded ?? encodeStored(registry, object, work));
  const json = encoding instanceof Promise ? await encoding : encoding;
  if (json === undefined || encodesTo(json, current)) {
    reencoded.add(current);
    // Nothing is going to be written: those who wait need not wait for the store to confirm it.
    registry.updateQueue.release(queued.hold);
    const looking = store.isStale(key, current.revision, certain);
    if (!(looking instanceof Promise ? await looking : looking)) {
      if (json !== undefined) noteUnchanged(span, json);
      return current;
    }
  }
  queued.hold.extended = true;
  const options = { ttlSeconds: ttlOf(registry, object, request.context), json, trace };
  return timedWrite(request.context, () => store.update(key, current.revision, object, options));
}

/** Versions that were found to be stored just as their object is encoded now. */
const reencoded = new WeakSet<StoredObject>();

// hot: of what is written again and again only the first write is encoded.
/** The same members in the same order have the same encoding. */
const isKnownUnchanged = ({ object, current, old, work, encoded }: PreparedUpdate): boolean =>
  encoded === undefined && !work.isLarge && reencoded.has(current) && isSameTree(object, old);
