// Who owns whom, as the garbage collector sees it. Only objects that have owners or are being deleted are in it:
//
//   nodes       uid-of-pod ─▶ { owners: [uid-of-set], … }
//   dependents  uid-of-set ─▶ { uid-of-pod, … }
//
// An owner that is well and alive has no node; its uid only stands among the dependents' owners.
import { type OwnerReference, parseApiVersion } from '../../machinery/object.js';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../registry/deletion-finalizers.js';
import type { ResourceRegistry } from '../../registry/registry.js';
import { hasMetadata, type StoredObject } from '../../storage/store.js';

export interface GraphNode {
  readonly uid: string;
  readonly registry: ResourceRegistry;
  readonly stored: StoredObject;
  readonly owners: readonly OwnerReference[];
  readonly state: 'alive' | 'deleting' | 'deleting dependents' | 'orphaning dependents';
}

export class Graph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #uids = new Map<string, string>();
  readonly #dependents = new Map<string, Set<string>>();

  node(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  dependents(uid: string): GraphNode[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((dependent) => this.#nodes.get(dependent) ?? []);
  }

  /** Takes in a new version of an object. Answers the uids whose situation it changes. */
  put(registry: ResourceRegistry, stored: StoredObject): ReadonlySet<string> {
    const place = registry.store.options.prefix + stored.key;
    if (!isLinked(stored) && !this.#uids.has(place)) return NONE;
    const touched = new Set<string>();
    const node = nodeOf(registry, stored);
    const known = this.#uids.get(place);
    if (known !== undefined && known !== node.uid) this.#forget(place, known, touched);
    const before = this.#nodes.get(node.uid);
    if (before !== undefined) this.#unlink(before);
    if (node.owners.length === 0 && node.state === 'alive') {
      this.#uids.delete(place);
    } else {
      this.#uids.set(place, node.uid);
      this.#link(node);
    }
    if (!sameOwners(before?.owners ?? [], node.owners)) {
      touched.add(node.uid);
      this.#touchWaitingOwners(before, touched);
    }
    if (before?.state !== node.state) this.#touchForState(node, touched);
    return touched;
  }

  /** Takes out an object that is gone. Answers the uids whose situation this changes. */
  gone(registry: ResourceRegistry, stored: StoredObject): Set<string> {
    const touched = new Set<string>();
    const place = registry.store.options.prefix + stored.key;
    const known = this.#uids.get(place);
    // Without dependents anywhere, nobody has to know whose end this was.
    if (known === undefined && this.#dependents.size === 0) return touched;
    this.#forget(place, known ?? stored.object().metadata.uid ?? '', touched);
    return touched;
  }

  /**
   * Once all objects of a resource are known: removes those that went while nobody watched it, and returns the uids
   * to look at, those of objects whose owners are of its kind among them, since these may have come and gone unseen.
   */
  settle(registry: ResourceRegistry, objects: ReadonlyMap<string, StoredObject>): Set<string> {
    const touched = new Set<string>();
    const { prefix } = registry.store.options;
    for (const [place, uid] of this.#uids) {
      if (place.startsWith(prefix) && !objects.has(place.slice(prefix.length))) this.#forget(place, uid, touched);
    }
    const { group, kind } = registry.kind;
    for (const { uid, owners } of this.#nodes.values()) {
      if (owners.some((owner) => owner.kind === kind && parseApiVersion(owner.apiVersion).group === group)) {
        touched.add(uid);
      }
    }
    return touched;
  }

  #forget(place: string, uid: string, touched: Set<string>): void {
    const node = this.#nodes.get(uid);
    this.#uids.delete(place);
    if (node !== undefined) this.#unlink(node);
    this.#touchWaitingOwners(node, touched);
    for (const dependent of this.#dependents.get(uid) ?? []) touched.add(dependent);
  }

  #link(node: GraphNode): void {
    this.#nodes.set(node.uid, node);
    for (const { uid } of node.owners) {
      const dependents = this.#dependents.get(uid);
      if (dependents === undefined) this.#dependents.set(uid, new Set([node.uid]));
      else dependents.add(node.uid);
    }
  }

  #unlink(node: GraphNode): void {
    this.#nodes.delete(node.uid);
    for (const { uid } of node.owners) {
      const dependents = this.#dependents.get(uid);
      dependents?.delete(node.uid);
      if (dependents?.size === 0) this.#dependents.delete(uid);
    }
  }

  /** Owners that wait for their dependents look again when one of these goes or lets them go. */
  #touchWaitingOwners(node: GraphNode | undefined, touched: Set<string>): void {
    for (const { uid } of node?.owners ?? []) {
      if (this.#nodes.get(uid)?.state === 'deleting dependents') touched.add(uid);
    }
  }

  #touchForState({ uid, state }: GraphNode, touched: Set<string>): void {
    if (state !== 'deleting dependents' && state !== 'orphaning dependents') return;
    touched.add(uid);
    if (state === 'orphaning dependents') return;
    for (const dependent of this.#dependents.get(uid) ?? []) touched.add(dependent);
  }
}

const NONE: ReadonlySet<string> = new Set();

// hot: every write of every resource passes here; most objects show in their bytes that they need no parsing.
const isLinked = (stored: StoredObject): boolean => hasMetadata(stored, LINKS);
const LINKS = ['ownerReferences', 'deletionTimestamp'];

function nodeOf(registry: ResourceRegistry, stored: StoredObject): GraphNode {
  const { uid = '', ownerReferences = [], deletionTimestamp, finalizers = [] } = stored.object().metadata;
  let state: GraphNode['state'] = 'alive';
  if (deletionTimestamp !== undefined) {
    state = 'deleting';
    if (finalizers.includes(ORPHAN_FINALIZER)) state = 'orphaning dependents';
    else if (finalizers.includes(FOREGROUND_FINALIZER)) state = 'deleting dependents';
  }
  return { uid, registry, stored, owners: ownerReferences, state };
}

const sameOwners = (a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean =>
  a.length === b.length &&
  a.every(({ uid, blockOwnerDeletion }, at) => uid === b[at]?.uid && blockOwnerDeletion === b[at].blockOwnerDeletion);
