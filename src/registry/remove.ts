import { loaded, StorageError, type StoredObject } from '../storage/store.js';
import type { LifeContext } from './kind.js';
import type { ResourceRegistry } from './registry.js';
import { timedWrite } from './timed-write.js';

/** Deletes an object from the store for good, then lets its kind release what the object held. */
export async function remove(
  registry: ResourceRegistry,
  key: string,
  current: StoredObject,
  context: LifeContext,
): Promise<StoredObject> {
  const removed = await timedWrite(context, () => registry.store.delete(key, current.revision, context.trace));
  return noted(registry, removed, context);
}

/** Removes an object that was marked before. Its removal by another meanwhile counts as success. */
export async function removeMarked(
  registry: ResourceRegistry,
  key: string,
  marked: StoredObject,
  context: LifeContext,
): Promise<StoredObject> {
  try {
    return await remove(registry, key, marked, context);
  } catch (error) {
    if (!(error instanceof StorageError && error.code === 'not-found')) throw error;
    return noted(registry, marked, context);
  }
}

async function noted({ kind }: ResourceRegistry, removed: StoredObject, context: LifeContext): Promise<StoredObject> {
  const { strategy } = kind;
  if (strategy.delete?.after !== undefined) await strategy.delete.after(await loaded(removed), context);
  return removed;
}
