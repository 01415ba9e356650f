// The generic life of objects for code inside the server: subresources, plugins, controllers, bootstrap.
import { workOn } from '../lib/scheduling/sized-work.js';
import { copyOf } from '../schema/deep-copy.js';
import { type GroupResource, groupResourceText, notFound } from '../machinery/status.js';
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import type { KubeObject } from '../machinery/object.js';
import { loaded, type StoredObject } from '../storage/store.js';
import { create } from './create.js';
import { deleteObject } from './delete.js';
import { checkDeleteOptions } from './delete-options.js';
import type { DeleteOptions, LifeContext, Lookup, ObjectOperations } from './kind.js';
import { findObject, get, list } from './list.js';
import { keyOf, type ResourceRegistry } from './registry.js';
import { update } from './update.js';

export type FindRegistry = (resource: GroupResource) => ResourceRegistry | undefined;

/**
 * Reads through the watch caches. An unknown resource has no objects. Of a store elsewhere it is what the cache has, which
 * may be behind what others wrote a moment ago, as in the informers of kube-apiserver; this server's own writes are in it,
 * and what the cache does not have is asked for.
 */
export function createLookup(find: FindRegistry): Lookup {
  return {
    // hot: every write reads its namespace, and for quotas and limits, of which most clusters have none.
    get(resource, namespace, name) {
      const registry = find(resource);
      if (registry === undefined) return undefined;
      const key = keyOf(registry, namespace, name);
      const { local } = registry.store;
      const known = local?.getCached(key) ?? local?.getMaybeStale(key);
      if (known !== undefined) return loaded(known);
      return findObject(registry, key, name).then((stored) => stored && loaded(stored));
    },
    list(resource, namespace, newest = false) {
      const registry = find(resource);
      const local = registry?.store.local;
      if (registry === undefined || local?.isEmpty === true) return NO_OBJECTS;
      const known = local?.listCached(namespace) ?? (newest ? undefined : local?.listMaybeStale(namespace));
      if (known !== undefined) return known;
      const request = { namespace, resourceVersion: '', resourceVersionMatch: '' as const, limit: 0, continue: '' };
      return list(registry, request).then(({ items }) => items);
    },
  };
}

const NO_OBJECTS: readonly StoredObject[] = [];

/** A write of the server's own, before or after the kind's rules. */
export interface InternalWrite {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly registry: ResourceRegistry;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly object?: KubeObject | undefined;
  readonly old?: Readonly<KubeObject> | undefined;
  /** Of a deletion. */
  readonly options?: DeleteOptions;
  readonly context: LifeContext;
}

/** Who has a say about the server's own writes; to refuse, they throw a StatusError. */
export interface InternalWriteAdmission {
  /** May change the object. */
  admit(write: InternalWrite): MaybePromise<void>;
  /** Sees the finished one. */
  validate(write: InternalWrite): MaybePromise<void>;
}

const NOBODY: InternalWriteAdmission = { admit: () => undefined, validate: () => undefined };

/** Writes that hold to a kind's rules, and to those who have a say about them; without any the server trusts itself. */
export function createOperations(find: FindRegistry, review: InternalWriteAdmission = NOBODY): ObjectOperations {
  const registryOf = (resource: GroupResource): ResourceRegistry => {
    const registry = find(resource);
    if (registry === undefined) throw new Error(`no registry for ${groupResourceText(resource)}`);
    return registry;
  };
  return {
    async get(resource, namespace, name, trace) {
      return loaded(await get(registryOf(resource), { namespace, name, trace }));
    },
    async create(resource, namespace, object, caller) {
      const registry = registryOf(resource);
      const context = { ...caller, namespace };
      const { name = '' } = object.metadata;
      const write = { operation: 'CREATE', registry, subresource: '', namespace, name, context } as const;
      await review.admit({ ...write, object });
      const admit = (finished: KubeObject): MaybePromise<void> => review.validate({ ...write, object: finished });
      return loaded(await create(registry, { object, context, admit }));
    },
    async update({ resource, namespace, name, subresource, change, context: caller, preconditions }) {
      const registry = registryOf(resource);
      const context = { ...caller, namespace };
      // hot: each member by name, because an object that is made of another by spreading has a shape of its own.
      const writeOf = (object: KubeObject, old: Readonly<KubeObject>): InternalWrite => ({
        operation: 'UPDATE',
        registry,
        subresource,
        namespace,
        name,
        object,
        old,
        context,
      });
      const { stored } = await update(registry, {
        name,
        endpoint: subresource,
        uid: preconditions?.uid,
        resourceVersion: preconditions?.resourceVersion,
        context,
        admitCreate: () => undefined,
        admitUpdate: (object, old) => review.validate(writeOf(object, old)),
        change(current, { bytes }) {
          if (current === undefined) throw notFound(registry.resource, name);
          const copying = whenReady(copyOf(current as KubeObject, workOn(bytes)), change);
          return whenReady(copying, (object) => whenReady(review.admit(writeOf(object, current)), () => object));
        },
      });
      return loaded(stored);
    },
    async delete({ resource, namespace, name, options, context: caller }) {
      const registry = registryOf(resource);
      const context = { ...caller, namespace };
      const last = await loaded(await get(registry, { namespace, name }));
      checkDeleteOptions(options);
      const admit = async (old: Readonly<KubeObject>): Promise<void> => {
        const about = { registry, subresource: '', namespace, name, old, options, context };
        const write = { operation: 'DELETE', ...about } as const;
        await review.admit(write);
        await review.validate(write);
      };
      const { answer } = await deleteObject(registry, { name, options, context, admit });
      return 'json' in answer ? answer.object() : last;
    },
  };
}
