// Finalizes deleted namespaces: empties them, updates their conditions, then removes the finalizer.
import type { KubeObject } from '../../machinery/object.js';
import { timestamp } from '../../registry/registry.js';
import type { Namespace } from '../../schema/generated/core.v1.js';
import { startInformer } from '../../storage/informer.js';
import { type ControllerParts, NAMESPACES, registryOf, updateSame } from '../controller.js';
import { WorkQueue } from '../../lib/async/work-queue.js';
import { type Emptying, setConditions } from './conditions.js';
import { emptyNamespace } from './empty.js';

const FINALIZER = 'kubernetes';
const CONCURRENCY = 10;
/** What holds a namespace back may go at any time, without an event. */
const MAX_PAUSE_MS = 5000;

export async function startNamespaceController(parts: ControllerParts): Promise<void> {
  const { clock, signal, log } = parts;
  const queue = new WorkQueue({
    name: 'namespace',
    work: (name) => finish(parts, name),
    concurrency: CONCURRENCY,
    maxPauseMs: MAX_PAUSE_MS,
    clock,
    signal,
    log,
  });
  const { synced } = startInformer({
    store: registryOf(parts, NAMESPACES).store,
    signal,
    log,
    onUpsert: (stored) => {
      const { metadata } = stored.object();
      if (metadata.deletionTimestamp !== undefined) queue.add(metadata.name ?? '');
    },
    onDelete: () => undefined,
  });
  await synced;
}

async function finish(parts: ControllerParts, name: string): Promise<'done' | 'again'> {
  const { client, clock } = parts;
  const namespace = (await client.get(NAMESPACES, '', name)) as Readonly<Namespace> | undefined;
  if (namespace?.metadata.deletionTimestamp === undefined) return 'done';
  if ((namespace.spec.finalizers ?? []).length === 0) return 'done';
  const emptying = await emptyNamespace({ client, registries: parts.registries() }, name);
  await updateConditions(parts, namespace, emptying, timestamp(new Date(clock.now())));
  if (!emptying.empty) return 'again';
  await updateSame(client, {
    resource: NAMESPACES,
    object: namespace,
    change: withoutFinalizer,
    subresource: 'finalize',
  });
  return 'done';
}

async function updateConditions(
  parts: ControllerParts,
  namespace: Readonly<Namespace>,
  emptying: Emptying,
  time: string,
): Promise<void> {
  const change = (object: KubeObject): KubeObject => {
    const current = object as Namespace;
    current.status = { ...current.status, phase: 'Terminating' };
    setConditions(current.status, emptying, time);
    return current;
  };
  await updateSame(parts.client, { resource: NAMESPACES, object: namespace, change, subresource: 'status' });
}

function withoutFinalizer(object: KubeObject): KubeObject {
  const { spec } = object as Namespace;
  const left = (spec.finalizers ?? []).filter((name) => name !== FINALIZER).toSorted();
  if (left.length > 0) spec.finalizers = left;
  else delete spec.finalizers;
  return object;
}
