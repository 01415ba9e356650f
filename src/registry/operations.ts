// The generic life of objects for code inside the server: subresources, plugins, controllers, bootstrap.
import { type GroupResource, groupResourceText, notFound } from '../machinery/status.js';
import type { KubeObject } from '../machinery/object.js';
import type { StoredObject } from '../storage/store.js';
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
    // hot: every write asks for its namespace, and for quotas and limits, of which most clusters have none.
    get(resource, namespace, name) {
      const registry = find(resource);
      if (registry === undefined) return undefined;
      const key = keyOf(registry, namespace, name);
      const known = registry.store.peek?.(key);
      if (known !== undefined) return known.object();
      return findObject(registry, key, name).then((stored) => stored?.object());
    },
    list(resource, namespace) {
      const registry = find(resource);
      if (registry === undefined || registry.store.isEmpty === true) return NO_OBJECTS;
      const request = { namespace, resourceVersion: '', resourceVersionMatch: '' as const, limit: 0, continue: '' };
      return list(registry, request).then(({ items }) => items);
    },
  };
}

const NO_OBJECTS: readonly StoredObject[] = [];

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
    async update(resource, namespace, name, subresource, change, context, preconditions) {
      const registry = registryOf(resource);
      const { stored } = await update(registry, {
        name,
        endpoint: subresource,
        ...preconditions,
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
