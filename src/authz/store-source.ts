// Follows a resource's store, for the RBAC index.
import type { Logger } from '../lib/telemetry/log.js';
import type { KubeObject } from '../machinery/object.js';
import { startInformer } from '../storage/informer.js';
import type { ResourceStore } from '../storage/store.js';
import type { NamedObject, RbacChange, RbacSource } from './rbac-objects.js';

export interface StoreSource<T extends NamedObject> extends RbacSource<T> {
  /** Resolves once the state that was there at the start has been handed over. */
  readonly synced: Promise<void>;
}

export interface StoreSourceOptions {
  readonly store: ResourceStore;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export function createStoreSource<T extends NamedObject & KubeObject>(options: StoreSourceOptions): StoreSource<T> {
  const receivers: ((change: RbacChange<T>) => void)[] = [];
  const notify = (change: RbacChange<T>): void => {
    for (const receive of receivers) receive(change);
  };
  const { synced, objects } = startInformer({
    ...options,
    onUpsert: (stored) => notify({ type: 'put', object: stored.object() as T }),
    onDelete: (stored) => {
      const { namespace = '', name = '' } = stored.object().metadata;
      notify({ type: 'delete', namespace, name });
    },
  });
  return {
    synced,
    subscribe(receive) {
      for (const stored of objects.values()) receive({ type: 'put', object: stored.object() as T });
      receivers.push(receive);
    },
  };
}
