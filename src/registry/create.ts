import { type SizedWork, workOn } from '../lib/scheduling/sized-work.js';
import { alreadyExists, generateNameConflict, StatusError } from '../machinery/status.js';
import type { KubeObject } from '../machinery/object.js';
import { copyOf } from '../schema/deep-copy.js';
import { recordKnownRead } from '../storage/record.js';
import { loaded, type StoredObject, StorageError } from '../storage/store.js';
import type { LifeContext, Transaction } from './kind.js';
import { type AdmitCreate, keyOf, type ResourceRegistry, unstored } from './registry.js';
import { findObject } from './list.js';
import { sizeHint } from '../machinery/size-hint.js';
import { fillSystemFields, generateName } from './system-fields.js';
import { fromStorage } from './storage-status.js';
import { prepareCreate } from './prepare-write.js';
import { encodeStored, reusableEncoding } from './encode-stored.js';
import { timedWrite } from './timed-write.js';

/** With eight tries a million names of one prefix collide once in a thousand creations. */
const GENERATED_NAME_ATTEMPTS = 8;

export interface CreateRequest {
  /** In the storage version, owned by this call. */
  readonly object: KubeObject;
  /** Bytes sent. Work on a large object yields to the event loop between its steps. */
  readonly bytes?: number;
  readonly context: LifeContext;
  readonly admit: AdmitCreate;
}

/** Stores a new object, or says why not. */
export function create(registry: ResourceRegistry, request: CreateRequest): Promise<StoredObject> {
  const { metadata } = request.object;
  if (metadata.name || !metadata.generateName) return attempt(registry, request, request.object, metadata.name);
  if (registry.kind.strategy.metadataRules?.usesGenerateNameAsIs)
    return attempt(registry, request, request.object, metadata.generateName);
  if (!request.context.features.enabled('RetryGenerateName')) {
    const name = generateName(metadata.generateName, registry.nameSuffix());
    return attempt(registry, request, request.object, name);
  }
  // hot: where every name is cached, a name in use is seen beforehand, and no copy is needed to start over from.
  if (registry.store.local?.isAuthoritative === true)
    return createUnderFreeName(registry, request, metadata.generateName);
  return createUnderNewName(registry, request, metadata.generateName);
}

async function createUnderNewName(
  registry: ResourceRegistry,
  request: CreateRequest,
  base: string,
): Promise<StoredObject> {
  for (let tries = 1; ; tries++) {
    const name = generateName(base, registry.nameSuffix());
    try {
      return await attempt(registry, request, await copyOf(request.object, workOn(request.bytes ?? 0)), name);
    } catch (error) {
      const exists = error instanceof StatusError && error.reason === 'AlreadyExists';
      if (!exists || tries === GENERATED_NAME_ATTEMPTS) throw error;
    }
  }
}

async function createUnderFreeName(
  registry: ResourceRegistry,
  request: CreateRequest,
  base: string,
): Promise<StoredObject> {
  const { store, drawnKeys } = registry;
  const { namespace } = request.context;
  for (let tries = 1; ; tries++) {
    const name = generateName(base, registry.nameSuffix());
    const key = keyOf(registry, namespace, name);
    const inUse = drawnKeys.has(key) || store.local?.getCached(key) !== undefined;
    if (inUse && tries < GENERATED_NAME_ATTEMPTS) continue;
    drawnKeys.add(key);
    try {
      return await attempt(registry, request, request.object, name);
    } finally {
      drawnKeys.delete(key);
    }
  }
}

async function attempt(
  registry: ResourceRegistry,
  request: CreateRequest,
  object: KubeObject,
  name: string | undefined,
): Promise<StoredObject> {
  const { context, admit } = request;
  const bytes = (request.bytes ?? 0) + sizeHint(request.object);
  const work = workOn(bytes);
  fillSystemFields(registry, object);
  if (name !== undefined) object.metadata.name = name;
  // hot: most kinds have nothing to begin, and most plugins nothing to wait for.
  const beginning = registry.kind.strategy.transaction?.beginCreate?.(object, context);
  const transaction = beginning && (await beginning);
  try {
    const preparing = prepareCreate(registry, object, context, bytes);
    const encoded = preparing && (await preparing);
    if (work.isLarge) await work.pause();
    const admitting = admit(object);
    if (admitting !== undefined) await admitting;
    if (work.isLarge) await work.pause();
    const stored = await put(registry, object, context, {
      work,
      encoded: reusableEncoding(registry, object, encoded),
    });
    if (transaction !== undefined) await transaction.commit();
    return stored;
  } catch (error) {
    await revert(transaction);
    throw error;
  }
}

async function put(
  registry: ResourceRegistry,
  object: KubeObject,
  context: LifeContext,
  { work, encoded }: { readonly work: SizedWork; readonly encoded: Buffer | undefined },
): Promise<StoredObject> {
  const name = object.metadata.name ?? '';
  const key = keyOf(registry, context.namespace, name);
  if (context.dryRun) return dryRunCreate(registry, { key, object, context, work });
  // kube-apiserver's store answers this in its own words, as an error of the server.
  if (Number(object.metadata.resourceVersion ?? '0') > 0) {
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
  }
  if (object.metadata.resourceVersion !== undefined) delete object.metadata.resourceVersion;
  try {
    const json = encoded ?? (work.isLarge ? await encodeStored(registry, object, work) : undefined);
    const options = { ttlSeconds: ttlOf(registry, object, context), trace: context.trace, json };
    return await timedWrite(context, () => registry.store.create(key, object, options));
  } catch (error) {
    if (error instanceof StorageError && error.code === 'key-exists') {
      recordKnownRead(context.trace, registry.store.options, key);
      throw await nameInUse(registry, object, error.details.current);
    }
    throw fromStorage(error, registry.resource, name);
  }
}

interface DryRun {
  readonly key: string;
  readonly object: KubeObject;
  readonly context: LifeContext;
  readonly work: SizedWork;
}

async function dryRunCreate(
  registry: ResourceRegistry,
  { key, object, context: { trace }, work }: DryRun,
): Promise<StoredObject> {
  const name = object.metadata.name ?? '';
  const current = await findObject(registry, key, name, trace);
  if (current !== undefined) throw await nameInUse(registry, object, current);
  try {
    return await unstored(registry, key, object, work);
  } catch (error) {
    throw fromStorage(error, registry.resource, name);
  }
}

/** In seconds, where a kind's objects live only so long. */
export const ttlOf = (registry: ResourceRegistry, object: KubeObject, context: LifeContext): number | undefined =>
  registry.kind.storage?.ttlSeconds?.(object, context);

async function nameInUse(
  registry: ResourceRegistry,
  object: KubeObject,
  current: StoredObject | undefined,
): Promise<StatusError> {
  const { name = '', generateName: base } = object.metadata;
  const error = base ? generateNameConflict(registry.resource, name, 1) : alreadyExists(registry.resource, name);
  const there = current && (await loaded(current));
  if (there?.metadata.deletionTimestamp === undefined) return error;
  return new StatusError(error.code, error.reason, `object is being deleted: ${error.message}`, error.details);
}

export async function revert(transaction: Transaction | undefined): Promise<void> {
  await transaction?.revert();
}
