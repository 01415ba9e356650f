// Keeps one object of a name in every active namespace.
import type { KubeObject } from '../machinery/object.js';
import type { GroupResource } from '../machinery/status.js';
import type { Namespace } from '../schema/generated/core.v1.js';
import { startInformer } from '../storage/informer.js';
import { CONTROLLER_MANAGER, type ControllerParts, NAMESPACES, registryOf, updateSame } from './controller.js';
import { WorkQueue } from '../lib/async/work-queue.js';

export interface Kept {
  /** The controller's name, in logs. */
  readonly controller: string;
  readonly resource: GroupResource;
  readonly name: string;
  /** The object as it is made; its namespace is filled in. */
  readonly make: () => KubeObject;
  /** Puts back what somebody changed. Absent when the object is theirs once it is there. */
  readonly mend?: (object: KubeObject) => void;
}

const CONCURRENCY = 5;

export async function keepInNamespaces(parts: ControllerParts, kept: Kept): Promise<void> {
  const { clock, signal, log } = parts;
  const queue = new WorkQueue({
    name: kept.controller,
    work: (namespace) => ensure(parts, kept, namespace),
    concurrency: CONCURRENCY,
    clock,
    signal,
    log,
  });
  const namespaces = startInformer({
    store: registryOf(parts, NAMESPACES).store,
    signal,
    log,
    onUpsert: (stored) => queue.add(stored.key),
    onDelete: () => undefined,
  });
  const look = ({ key }: { readonly key: string }): void => queue.add(key.slice(0, key.indexOf('/')));
  const objects = startInformer({
    store: registryOf(parts, kept.resource).store,
    name: kept.name,
    signal,
    log,
    onUpsert: kept.mend === undefined ? () => undefined : look,
    onDelete: look,
  });
  await Promise.all([namespaces.synced, objects.synced]);
}

async function ensure({ client }: ControllerParts, kept: Kept, name: string): Promise<'done'> {
  const namespace = (await client.get(NAMESPACES, '', name)) as Readonly<Namespace> | undefined;
  if (namespace === undefined || namespace.status.phase !== 'Active') return 'done';
  const object = await client.get(kept.resource, name, kept.name);
  if (object === undefined) {
    const made = kept.make();
    made.metadata = { ...made.metadata, name: kept.name, namespace: name };
    await client.create(kept.resource, made, CONTROLLER_MANAGER);
    return 'done';
  }
  const { mend } = kept;
  if (mend !== undefined) {
    // An update that changes nothing writes nothing.
    await updateSame(client, {
      resource: kept.resource,
      object,
      change: (current) => {
        mend(current);
        return current;
      },
    });
  }
  return 'done';
}
