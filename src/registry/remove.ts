import type { KubeObject } from '../machinery/object.js';
import type { StoredObject } from '../storage/store.js';
import type { LifeContext } from './kind.js';
import type { ResourceRegistry } from './registry.js';

/** Takes an object out of the store for good, then lets its kind give back what the object held. */
export async function remove(
  registry: ResourceRegistry,
  key: string,
  current: StoredObject,
  context: LifeContext,
): Promise<StoredObject> {
  const removed = await registry.store.delete(key, current.revision);
  const last: Readonly<KubeObject> = removed.object();
  await registry.kind.strategy.afterDelete?.(last, context);
  return removed;
}
