import type { KubeObject, ManagedFieldsEntry } from '../machinery/object.js';
import type { ResourceRegistry } from './registry.js';

/**
 * Keeps the old managed fields when nothing but their times changed. Defaults, allocation and admission come after
 * the writer's fields were noted, so only here is it known that a write changed nothing.
 */
export function keepManagedFieldsTimes(
  registry: ResourceRegistry,
  object: KubeObject,
  old: Readonly<KubeObject>,
): void {
  const now = object.metadata.managedFields;
  const before = old.metadata.managedFields;
  if (now === undefined || before === undefined || now.length === 0 || before.length === 0) return;
  if (!sameButTimes(now, before)) return;
  const { managedFields: _now, ...metadata } = object.metadata;
  const { managedFields: _before, resourceVersion: _version, ...oldMetadata } = old.metadata;
  delete metadata.resourceVersion;
  const unchanged = registry.equal({ ...object, metadata }, { ...old, metadata: oldMetadata });
  if (unchanged) object.metadata.managedFields = before;
}

function sameButTimes(a: readonly ManagedFieldsEntry[], b: readonly ManagedFieldsEntry[]): boolean {
  if (a.length !== b.length) return false;
  return a.every((entry, i) => {
    const other = b[i];
    if (other === undefined) return false;
    return JSON.stringify({ ...entry, time: '' }) === JSON.stringify({ ...other, time: '' });
  });
}
