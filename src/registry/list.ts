import { notFound } from '../machinery/status.js';
import type { Trace } from '../tracing/trace.js';
import type { ListRequest, ListResult, StoredObject, Watch, WatchEvent, WatchRequest } from '../storage/store.js';
import { requestedKey, type ResourceRegistry } from './registry.js';
import { fromStorage } from './storage-status.js';

export interface GetRequest {
  readonly namespace: string;
  readonly name: string;
  /** The object must not be older; '' for the most recent. */
  readonly resourceVersion?: string;
  readonly trace?: Trace | undefined;
}

/** One object, not older than `resourceVersion` says. */
export async function get(
  registry: ResourceRegistry,
  { namespace, name, resourceVersion = '', trace }: GetRequest,
): Promise<StoredObject> {
  const key = requestedKey(registry, namespace, name);
  let stored: StoredObject | undefined;
  try {
    stored = await registry.store.get(key, resourceVersion, trace);
  } catch (error) {
    throw fromStorage(error, registry.resource, name);
  }
  if (stored === undefined) throw notFound(registry.resource, name);
  return stored;
}

/** The object as it is now, if there is one. */
export async function findObject(
  registry: ResourceRegistry,
  key: string,
  name: string,
  trace?: Trace,
): Promise<StoredObject | undefined> {
  try {
    return await registry.store.get(key, '', trace);
  } catch (error) {
    throw fromStorage(error, registry.resource, name);
  }
}

/** Finds an object for a write that is recorded itself. */
export async function findForWrite(
  registry: ResourceRegistry,
  key: string,
  name: string,
  trace?: Trace,
): Promise<StoredObject | undefined> {
  try {
    return await registry.store.getForUpdate(key, trace);
  } catch (error) {
    throw fromStorage(error, registry.resource, name);
  }
}

export async function list(registry: ResourceRegistry, request: ListRequest): Promise<ListResult> {
  try {
    return await registry.store.list(request);
  } catch (error) {
    throw fromStorage(error, registry.resource, '');
  }
}

/** Before the answer to a watch begins. */
export async function awaitReady({ store, resource }: ResourceRegistry): Promise<void> {
  try {
    await store.ready?.();
  } catch (error) {
    throw fromStorage(error, resource, '');
  }
}

export async function watch(
  registry: ResourceRegistry,
  request: WatchRequest,
  receive: (events: readonly WatchEvent[]) => boolean,
): Promise<Watch> {
  return registry.store.watch(request, receive);
}
