// Follows the objects of a resource once, for all stand-ins that want to hear of them.
import { registryOf } from '../controllers/controller.js';
import type { KubeObject } from '../machinery/object.js';
import type { GroupResource } from '../machinery/status.js';
import { type Informer, startInformer } from '../storage/informer.js';
import type { StoredObject } from '../storage/store.js';
import type { WorkloadParts } from './workload-parts.js';

export interface Listener {
  /** Objects are shared: read only. */
  onUpsert(object: Readonly<KubeObject>, key: string): void;
  onDelete(object: Readonly<KubeObject>, key: string): void;
}

export class SharedInformer {
  readonly #listeners: Listener[] = [];
  #informer: Informer | undefined;

  constructor(
    private readonly parts: WorkloadParts,
    readonly resource: GroupResource,
  ) {}

  /** Before `start`, in the order in which they shall hear of an object. */
  subscribe(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Resolves once the state that was there has been handed over. */
  start(): Promise<void> {
    const { signal, log } = this.parts;
    this.#informer = startInformer({
      store: registryOf(this.parts, this.resource).store,
      signal,
      log,
      onUpsert: (stored) => {
        for (const listener of this.#listeners) listener.onUpsert(stored.object(), stored.key);
      },
      onDelete: (stored) => {
        for (const listener of this.#listeners) listener.onDelete(stored.object(), stored.key);
      },
    });
    return this.#informer.synced;
  }

  get objects(): ReadonlyMap<string, StoredObject> {
    return this.#informer?.objects ?? NONE;
  }
}

const NONE: ReadonlyMap<string, StoredObject> = new Map();
