// Brings the objects of one resource to what they say, whenever they or what they own has changed.
import { updateSame } from '../controllers/controller.js';
import { WorkQueue } from '../lib/async/work-queue.js';
import { deepEqual } from '../lib/values/deep-equal.js';
import type { KubeObject } from '../machinery/object.js';
import type { GroupResource } from '../machinery/status.js';
import type { ServerClient } from '../registry/server-client.js';
import { controllerOf } from './owned-objects.js';
import type { SharedInformer } from './shared-informer.js';
import type { WorkloadParts } from './workload-parts.js';

export interface ReconcilerOptions<T extends KubeObject> {
  readonly kind: string;
  readonly client: ServerClient;
  readonly objects: SharedInformer;
  readonly owned: readonly SharedInformer[];
  /** Answers after how many milliseconds to look again though nothing has changed; undefined for not at all. */
  readonly reconcile: (object: Readonly<T>) => Promise<number | undefined>;
}

const CONCURRENCY = 5;

/** Answers what to call with an owned object whose owner shall be looked at. */
export function addReconciler<T extends KubeObject>(
  parts: WorkloadParts,
  options: ReconcilerOptions<T>,
): (owned: Readonly<KubeObject>) => void {
  const { kind, client, objects, owned, reconcile } = options;
  const { clock, signal, log } = parts;
  const timers = new Map<string, () => void>();
  const queue = new WorkQueue({
    name: kind,
    concurrency: CONCURRENCY,
    clock,
    signal,
    log,
    async work(key) {
      const [namespace = '', name = ''] = key.split('/');
      const object = await client.get(objects.resource, namespace, name);
      timers.get(key)?.();
      timers.delete(key);
      const againMs = object === undefined ? undefined : await reconcile(object as T);
      if (againMs !== undefined)
        timers.set(
          key,
          clock.after(againMs, () => queue.add(key)),
        );
      return 'done';
    },
  });
  objects.subscribe({ onUpsert: (_, key) => queue.add(key), onDelete: (_, key) => queue.add(key) });
  const addOwner = (object: Readonly<KubeObject>): void => {
    const owner = controllerOf(object);
    if (owner?.kind === kind) queue.add(`${object.metadata.namespace}/${owner.name}`);
  };
  for (const informer of owned) informer.subscribe({ onUpsert: addOwner, onDelete: addOwner });
  return addOwner;
}

/** Writes a status that differs, of the object that is still the same one. */
export async function updateStatus<T extends KubeObject & { status: object }>(
  client: ServerClient,
  resource: GroupResource,
  object: Readonly<T>,
  status: T['status'],
): Promise<void> {
  if (deepEqual(object.status, status)) return;
  const change = (current: KubeObject): KubeObject => ({ ...current, status }) as KubeObject;
  await updateSame(client, { resource, object, change, subresource: 'status' });
}

/** In normal form counts of zero are left out. */
export function withoutZeros<T extends object>(counts: T): T {
  return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== 0 && value !== undefined)) as T;
}
