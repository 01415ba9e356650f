// The generic life of objects for code inside the server: subresources, plugins, controllers, bootstrap.
import { type GroupResource, groupResourceText, notFound } from '../machinery/status.js';
import type { KubeObject } from '../machinery/object.js';
import { create } from './create.js';
import { deleteObject } from './delete.js';
import type { Lookup, ObjectOperations } from './kind.js';
import { findObject, get, list } from './list.js';
import { keyOf, type ResourceRegistry } from './registry.js';
import { update } from './update.js';

export type FindRegistry = (resource: GroupResource) => ResourceRegistry | undefined;

/** Reads through the watch caches. An unknown resource has no objects. */
export function createLookup(find: FindRegistry): Lookup {
  return {
    async get(resource, namespace, name) {
      const registry = find(resource);
      if (registry === undefined) return undefined;
      const key = keyOf(registry, namespace, name);
      return (registry.store.peek?.(key) ?? (await findObject(registry, key, name)))?.object();
    },
    async list(resource, namespace) {
      const registry = find(resource);
      // hot: most clusters have no quotas and no limits, and every write asks for them.
      if (registry === undefined || registry.store.isEmpty === true) return [];
      const request = { namespace, resourceVersion: '', resourceVersionMatch: '' as const, limit: 0, continue: '' };
      return (await list(registry, request)).items;
    },
  };
}

/** Writes that hold to a kind's rules but not to admission: the server trusts itself. */
export function createOperations(
  find: FindRegistry,
  copy: (object: Readonly<KubeObject>) => KubeObject,
): ObjectOperations {
  const registryOf = (resource: GroupResource): ResourceRegistry => {
    const registry = find(resource);
    if (registry === undefined) throw new Error(`no registry for ${groupResourceText(resource)}`);
    return registry;
  };
  const admitted = async (): Promise<void> => {};
  return {
    async get(resource, namespace, name) {
      return (await get(registryOf(resource), namespace, name, '')).object();
    },
    async create(resource, namespace, object, context) {
      const request = { object, context: { ...context, namespace }, admit: admitted, copy };
      return (await create(registryOf(resource), request)).object();
    },
    async update(resource, namespace, name, subresource, change, context) {
      const registry = registryOf(resource);
      const { stored } = await update(registry, {
        name,
        endpoint: subresource,
        context: { ...context, namespace },
        admitCreate: admitted,
        admitUpdate: admitted,
        async change(current) {
          if (current === undefined) throw notFound(registry.resource, name);
          return change(copy(current));
        },
      });
      return stored.object();
    },
    async delete(resource, namespace, name, options, context) {
      const registry = registryOf(resource);
      const last = (await get(registry, namespace, name, '')).object();
      const request = { name, options, context: { ...context, namespace }, admit: admitted, copy };
      const { answer } = await deleteObject(registry, request);
      return 'json' in answer ? answer.object() : last;
    },
  };
}
