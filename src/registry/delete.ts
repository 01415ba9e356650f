import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { workOn } from '../lib/scheduling/sized-work.js';
import { conflict, notFound, type Status } from '../machinery/status.js';
import type { KubeObject } from '../machinery/object.js';
import { copyOf } from '../schema/deep-copy.js';
import { noteUnchanged, recordKnownRead, recordUpdate } from '../storage/record.js';
import { encodesTo } from '../storage/splice.js';
import type { Span } from '../tracing/trace.js';
import { loaded, type StoredObject, StorageError } from '../storage/store.js';
import type { DeleteOptions, LifeContext } from './kind.js';
import { type AdmitDelete, requestedKey, type ResourceRegistry, timestamp, unstored } from './registry.js';
import { deletionFinalizers } from './deletion-finalizers.js';
import { gracefulStep, type GracefulStep } from './graceful-deletion.js';
import { findObject } from './list.js';
import { encodeStored } from './encode-stored.js';
import { remove, removeMarked } from './remove.js';
import { fromStorage } from './storage-status.js';
import { timedWrite } from './timed-write.js';
import { failedPrecondition } from './update.js';

export interface DeleteRequest {
  readonly name: string;
  readonly options: DeleteOptions;
  readonly context: LifeContext;
  readonly admit: AdmitDelete;
}

export interface DeleteResult {
  /** What is answered: the object where the kind shows it, else a Status. */
  readonly answer: StoredObject | Status;
  /** False: it stays for now, marked as deleting. */
  readonly deleted: boolean;
}

/** What is known once the object has been found. */
interface Deletion {
  readonly registry: ResourceRegistry;
  readonly request: DeleteRequest;
  readonly key: string;
  readonly current: StoredObject;
}

/** Deletes an object, or marks it as deleting when something has to happen first. */
export async function deleteObject(registry: ResourceRegistry, request: DeleteRequest): Promise<DeleteResult> {
  registry.kind.strategy.delete?.checkName?.(request.name);
  return deleteMember(registry, request);
}

/** Deletes one of a collection. */
export async function deleteMember(registry: ResourceRegistry, request: DeleteRequest): Promise<DeleteResult> {
  const key = requestedKey(registry, request.context.namespace, request.name);
  for (;;) {
    const current = await findObject(registry, key, request.name, request.context.trace);
    if (current === undefined) throw notFound(registry.resource, request.name);
    try {
      return await attempt({ registry, request, key, current });
    } catch (error) {
      const raced = error instanceof StorageError && error.code === 'conflict';
      if (!raced) throw fromStorage(error, registry.resource, request.name);
    }
  }
}

async function attempt(deletion: Deletion): Promise<DeleteResult> {
  const { registry, request, key, current } = deletion;
  const { kind } = registry;
  const { context, options } = request;
  const old = await loaded(current);
  checkPreconditions(deletion);
  const object = await copyToDelete(deletion, old);
  if (kind.strategy.delete?.terminate?.(object, registry.clock()) === 'keep') {
    return keepTerminating(deletion, object);
  }
  const step = gracefulStep(registry, object, options);
  if (step.kind === 'pending') return { answer: answerOf(registry, current), deleted: false };
  const finalizers = deletionFinalizers(registry, object, options);
  if (finalizers !== undefined) object.metadata.finalizers = finalizers;
  const held = (object.metadata.finalizers?.length ?? 0) > 0;
  await request.admit(old);
  if (step.kind === 'graceful' || held) return mark(deletion, object, { step, held });
  if (context.dryRun) {
    recordKnownRead(context.trace, registry.store.options, key);
    return { answer: answerOf(registry, current), deleted: true };
  }
  return { answer: answerOf(registry, await remove(registry, key, current, context)), deleted: true };
}

// hot: to a copy made by spreading, V8 cannot add members of a known shape.
/** Only the metadata of most objects is changed by a deletion. */
const copyToDelete = ({ registry, current }: Deletion, old: Readonly<KubeObject>): MaybePromise<KubeObject> =>
  registry.kind.strategy.delete?.terminate === undefined
    ? { ...old, metadata: Object.assign({}, old.metadata) }
    : copyOf(old as KubeObject, workOn(current.size));

/** Writes the object with its deletion noted; removes it at once when nothing holds it after all. */
async function mark(
  deletion: Deletion,
  object: KubeObject,
  { step, held }: { step: GracefulStep; held: boolean },
): Promise<DeleteResult> {
  const { registry, request, key, current } = deletion;
  const { context } = request;
  if (step.kind === 'now') markDeletingNow(registry, object);
  if (object.metadata.finalizers?.length === 0) delete object.metadata.finalizers;
  const goesNow = !held && step.kind === 'graceful' && step.seconds === 0;
  const marked = await write(deletion, object);
  if (!goesNow) return { answer: marked, deleted: false };
  // Admission reviewed the marking as one deletion; the removal of the marked object is another.
  await request.admit(context.dryRun ? current.object() : marked.object());
  if (context.dryRun) return { answer: answerOf(registry, marked), deleted: true };
  return { answer: answerOf(registry, await removeMarked(registry, key, marked, context)), deleted: true };
}

async function keepTerminating(deletion: Deletion, object: KubeObject): Promise<DeleteResult> {
  const { registry, request, current } = deletion;
  if (current.object().metadata.deletionTimestamp !== undefined) return { answer: current, deleted: false };
  await request.admit(current.object());
  object.metadata.deletionTimestamp = timestamp(registry.clock());
  const { dependentsStay } = registry.kind.strategy.delete ?? {};
  const finalizers = dependentsStay ? undefined : deletionFinalizers(registry, object, request.options);
  if (finalizers !== undefined) object.metadata.finalizers = finalizers;
  return { answer: await write(deletion, object), deleted: false };
}

async function write(deletion: Deletion, object: KubeObject): Promise<StoredObject> {
  const { registry, key, current } = deletion;
  const { context } = deletion.request;
  const { options } = registry.store;
  if (context.dryRun) {
    object.metadata.resourceVersion = String(current.revision);
    recordKnownRead(context.trace, options, key);
    return unstored(registry, key, object);
  }
  const span = recordUpdate(context.trace, options, key);
  span?.event('initial value restored');
  try {
    return await writeUnder(span, deletion, object);
  } finally {
    span?.end();
  }
}

async function writeUnder(span: Span | undefined, deletion: Deletion, object: KubeObject): Promise<StoredObject> {
  const { registry, key, current } = deletion;
  const { context } = deletion.request;
  object.metadata.resourceVersion = undefined;
  const json = await encodeStored(registry, object, workOn(current.size));
  if (encodesTo(json, current)) {
    noteUnchanged(span, json);
    return current;
  }
  const trace = span ?? context.trace;
  return timedWrite(context, () => registry.store.update(key, current.revision, object, { trace, json }));
}

function markDeletingNow(registry: ResourceRegistry, { metadata }: KubeObject): void {
  const now = timestamp(registry.clock());
  const first = metadata.deletionTimestamp === undefined;
  if (first && (metadata.generation ?? 0) > 0) metadata.generation = (metadata.generation ?? 0) + 1;
  if (metadata.deletionTimestamp === undefined || metadata.deletionTimestamp > now) metadata.deletionTimestamp = now;
  metadata.deletionGracePeriodSeconds = 0;
}

function checkPreconditions({ registry, request, current }: Deletion): void {
  const { name, options } = request;
  const { uid, resourceVersion } = options.preconditions ?? {};
  const found = current.object().metadata.uid ?? '';
  const refuse = (what: 'UID' | 'ResourceVersion', wanted: string, has: string): never => {
    const { group, kind } = registry.groupKind;
    if (registry.kind.strategy.delete?.terminate !== undefined) {
      throw conflict(registry.resource, name, failedPrecondition(what, wanted, has));
    }
    const again = what === 'UID' ? 'deleted and then recreated' : 'modified';
    throw conflict(
      { group, resource: kind },
      name,
      `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${has}). The object might have been ${again}`,
    );
  };
  if (uid !== undefined && uid !== found) refuse('UID', uid, found);
  if (resourceVersion !== undefined && resourceVersion !== String(current.revision)) {
    refuse('ResourceVersion', resourceVersion, String(current.revision));
  }
}

function answerOf(registry: ResourceRegistry, stored: StoredObject): StoredObject | Status {
  if (registry.kind.strategy.delete?.returnsObject) return stored;
  const { name, uid } = stored.object().metadata;
  const { group, resource } = registry.resource;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...(name && { name }), ...(group && { group }), kind: resource, ...(uid && { uid }) },
  };
}
