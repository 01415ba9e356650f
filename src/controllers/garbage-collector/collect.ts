// What the garbage collector does with one object, given who owns it and whom it owns.
import { type KubeObject, type OwnerReference, parseApiVersion } from '../../machinery/object.js';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../registry/deletion-finalizers.js';
import { keyOf } from '../../registry/registry.js';
import { type ControllerParts, inBatches, isStatus, updateSame } from '../controller.js';
import { podDeleteOptions } from '../pod-grace.js';
import type { Graph, GraphNode } from './graph.js';

export interface Collector {
  readonly parts: ControllerParts;
  readonly graph: Graph;
  readonly enqueue: (uid: string) => void;
}

export async function collect(collector: Collector, uid: string): Promise<'done' | 'again'> {
  const node = collector.graph.node(uid);
  switch (node?.state) {
    case undefined:
    // Its deletion is under way; its dependents follow when it is gone.
    case 'deleting':
      return 'done';
    case 'orphaning dependents':
      return orphanDependents(collector, node);
    case 'deleting dependents':
      return awaitDependents(collector, node);
    case 'alive':
      return checkOwners(collector, node);
  }
}

async function orphanDependents({ parts, graph }: Collector, owner: GraphNode): Promise<'done'> {
  const owners = new Set([owner.uid]);
  await inBatches(graph.dependents(owner.uid), (dependent) => dropOwners(parts, dependent, owners));
  await removeFinalizer(parts, owner, ORPHAN_FINALIZER);
  return 'done';
}

/** Dependents that block their owner's deletion go first; the last of them brings the owner here again. */
async function awaitDependents({ parts, graph, enqueue }: Collector, owner: GraphNode): Promise<'done'> {
  const blocking = graph
    .dependents(owner.uid)
    .filter(({ owners }) => owners.some(({ uid, blockOwnerDeletion }) => uid === owner.uid && blockOwnerDeletion));
  if (blocking.length === 0) await removeFinalizer(parts, owner, FOREGROUND_FINALIZER);
  for (const { uid, state } of blocking) if (state !== 'deleting dependents') enqueue(uid);
  return 'done';
}

interface Owners {
  /** There, and not waiting for the object to go. */
  solid: number;
  /** Gone. */
  dangling: string[];
  /** There, and waiting for the object to go. */
  waiting: string[];
}

async function checkOwners({ parts, graph }: Collector, node: GraphNode): Promise<'done' | 'again'> {
  const object = await latest(node);
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return 'done';
  const owners = await classify(parts, node, object.metadata.ownerReferences ?? []);
  if (owners === 'unknown kind') return 'again';
  if (owners === 'unsound') return 'done';
  const { solid, dangling, waiting } = owners;
  if (solid + dangling.length + waiting.length === 0) return 'done';
  if (solid > 0) {
    if (dangling.length + waiting.length > 0) await dropOwners(parts, node, new Set([...dangling, ...waiting]));
    return 'done';
  }
  const dependents = graph.dependents(node.uid);
  if (waiting.length === 0 || dependents.length === 0) return deleteDependent(parts, node, object, inherited(object));
  // Objects that own each other in a circle would wait for each other for ever.
  const circle = dependents.some(({ state }) => state === 'deleting dependents');
  if (circle) await unblockOwners(parts, node);
  return deleteDependent(parts, node, circle ? await latest(node) : object, 'Foreground');
}

async function latest({ registry, stored, uid }: GraphNode): Promise<Readonly<KubeObject> | undefined> {
  const object = (await registry.store.get(stored.key, ''))?.object();
  return object?.metadata.uid === uid ? object : undefined;
}

async function classify(
  parts: ControllerParts,
  node: GraphNode,
  references: readonly OwnerReference[],
): Promise<Owners | 'unknown kind' | 'unsound'> {
  const owners: Owners = { solid: 0, dangling: [], waiting: [] };
  for (const reference of references) {
    const owner = await ownerOf(parts, node, reference);
    // Its kind may be served again, or soon: nothing is decided without knowing.
    if (owner === 'unknown kind' || owner === 'unsound') return owner;
    if (owner === undefined) owners.dangling.push(reference.uid);
    else if (isWaiting(owner)) owners.waiting.push(reference.uid);
    else owners.solid++;
  }
  return owners;
}

async function ownerOf(
  { registryOf, resourceOf }: ControllerParts,
  node: GraphNode,
  reference: OwnerReference,
): Promise<Readonly<KubeObject> | undefined | 'unknown kind' | 'unsound'> {
  const { group, version } = parseApiVersion(reference.apiVersion);
  const resource = resourceOf({ group, version, kind: reference.kind });
  const registry = resource === undefined ? undefined : registryOf({ group, resource });
  if (registry === undefined) return 'unknown kind';
  const { namespaced } = node.registry.kind;
  // A cluster-wide object cannot say which namespace its owner is in.
  if (registry.kind.namespaced && !namespaced) return 'unsound';
  const namespace = namespaced ? (node.stored.object().metadata.namespace ?? '') : '';
  const key = keyOf(registry, namespace, reference.name);
  const known = (await registry.store.get(key, '0'))?.object();
  if (known?.metadata.uid === reference.uid) return known;
  const newest = (await registry.store.get(key, ''))?.object();
  return newest?.metadata.uid === reference.uid ? newest : undefined;
}

const isWaiting = ({ metadata }: Readonly<KubeObject>): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(FOREGROUND_FINALIZER);

/** The propagation policy that the object's finalizers say. */
function inherited({ metadata: { finalizers = [] } }: Readonly<KubeObject>): string {
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}

async function deleteDependent(
  { client }: ControllerParts,
  { registry }: GraphNode,
  object: Readonly<KubeObject> | undefined,
  propagationPolicy: string,
): Promise<'done' | 'again'> {
  if (object === undefined) return 'done';
  const { uid, resourceVersion } = object.metadata;
  const isPod = registry.resource.group === '' && registry.resource.resource === 'pods';
  // An object that was changed meanwhile may have got an owner.
  const preconditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  try {
    await client.delete(registry.resource, object, {
      propagationPolicy,
      preconditions,
      ...(isPod && (await podDeleteOptions(client, object))),
    });
    return 'done';
  } catch (error) {
    if (isStatus(error, 409)) return 'again';
    throw error;
  }
}

async function dropOwners({ client }: ControllerParts, node: GraphNode, uids: ReadonlySet<string>): Promise<void> {
  await updateSame(client, {
    resource: node.registry.resource,
    object: node.stored.object(),
    change: (object) => {
      const left = (object.metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid));
      if (left.length > 0) object.metadata.ownerReferences = left;
      else delete object.metadata.ownerReferences;
      return object;
    },
  });
}

async function unblockOwners({ client }: ControllerParts, node: GraphNode): Promise<void> {
  await updateSame(client, {
    resource: node.registry.resource,
    object: node.stored.object(),
    change: (object) => {
      for (const reference of object.metadata.ownerReferences ?? []) {
        if (reference.blockOwnerDeletion === true) reference.blockOwnerDeletion = false;
      }
      return object;
    },
  });
}

async function removeFinalizer({ client }: ControllerParts, node: GraphNode, finalizer: string): Promise<void> {
  await updateSame(client, {
    resource: node.registry.resource,
    object: node.stored.object(),
    change: (object) => {
      const left = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
      if (left.length > 0) object.metadata.finalizers = left;
      else delete object.metadata.finalizers;
      return object;
    },
  });
}
