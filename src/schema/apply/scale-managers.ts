// Ownership of a replica count, seen through the `scale` subresource: one field of another type there.
import type { ManagedFieldsEntry } from '../../machinery/object.js';
import { FieldSet } from './field-set.js';
import { decodeManagers, encodeManagers, type Managers } from './managers.js';

const SCALE_API_VERSION = 'autoscaling/v1';
const REPLICAS_IN_SCALE = ['f:spec', 'f:replicas'];

/**
 * Where the replica count stands in each version of the scaled kind, as steps (`['f:spec', 'f:replicas']`); null where
 * a version has no scale.
 */
export type ReplicasPaths = Readonly<Record<string, readonly string[] | null>>;

/** The managedFields a Scale shows: of those managers that own the replica count. */
export function toScaleManagedFields(
  parent: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const shown: Managers = new Map();
  for (const [identity, manager] of decodeManagers(parent)) {
    const path = paths[manager.apiVersion];
    if (path === undefined || path === null || !manager.fields.has(path)) continue;
    shown.set(identity, { ...manager, apiVersion: SCALE_API_VERSION, fields: FieldSet.of(REPLICAS_IN_SCALE) });
  }
  return encodeManagers(shown);
}

/** The scaled object's managedFields after a write through scale left `scale` on the Scale. */
export function fromScaleManagedFields(
  parent: readonly ManagedFieldsEntry[] | undefined,
  scale: readonly ManagedFieldsEntry[] | undefined,
  apiVersion: string,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const result: Managers = new Map();
  const scalers = decodeManagers(scale);
  for (const [identity, manager] of decodeManagers(parent)) {
    const path = paths[manager.apiVersion];
    if (path === undefined) continue;
    if (path === null || !manager.fields.has(path)) {
      result.set(identity, manager);
      continue;
    }
    // An applier that still owns the count in the Scale keeps it. An updater is another one in each version, and so loses
    // it to itself.
    if (scalers.delete(identity)) result.set(identity, manager);
    else {
      const fields = manager.fields.difference(FieldSet.of(path));
      if (!fields.empty) result.set(identity, { ...manager, fields });
    }
  }
  const path = paths[apiVersion];
  for (const [identity, manager] of scalers) {
    if (path === undefined || path === null || !manager.fields.has(REPLICAS_IN_SCALE)) continue;
    // kube-apiserver drops the time of the manager whose count was overridden.
    result.set(identity, { ...manager, apiVersion, fields: FieldSet.of(path), time: undefined });
  }
  return encodeManagers(result);
}
