import { FieldPath, invalid as invalidField } from '../machinery/field-error.js';
import { invalid } from '../machinery/status.js';
import { requestedKey, type ResourceRegistry } from './registry.js';
import { fromStorage } from './storage-status.js';

/**
 * Deletes an object that cannot be read: what waits for it is unknown, so neither finalizers nor admission hold
 * it. What can be read has to go the usual way.
 */
export async function deleteUnreadable(
  registry: ResourceRegistry,
  namespace: string,
  name: string,
  dryRun: boolean,
): Promise<void> {
  const key = requestedKey(registry, namespace, name);
  let deleted: boolean;
  try {
    deleted = await registry.store.deleteUnreadable(key, dryRun);
  } catch (error) {
    throw fromStorage(error, registry.resource, name);
  }
  if (deleted) return;
  const { group, resource } = registry.resource;
  const path = FieldPath.of('ignoreStoreReadErrorWithClusterBreakingPotential');
  const why = 'is exclusively used to delete corrupt object(s), try again by removing this option';
  throw invalid({ group, kind: resource }, name, [invalidField(path, true, why)]);
}
