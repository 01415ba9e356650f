// The objects that a controller has made, by the uid of the object that they are made for. What has been written and not
// yet heard of is expected: whoever counts before it arrives would make it again.
//
//   owner u1 → { 'shop/web-a': Pod, 'shop/web-b': Pod }      expected { 'shop/web-c': 'create' }
import type { KubeObject, OwnerReference } from '../machinery/object.js';
import type { Listener } from './shared-informer.js';

export const controllerOf = ({ metadata }: Readonly<KubeObject>): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true);

export class OwnedObjects<T extends KubeObject> implements Listener {
  readonly #byOwner = new Map<string, Map<string, Readonly<T>>>();
  readonly #expected = new Map<string, Map<string, 'create' | 'delete'>>();

  onUpsert(object: Readonly<KubeObject>, key: string): void {
    const owner = controllerOf(object)?.uid;
    if (owner === undefined) return;
    entryOf(this.#byOwner, owner).set(key, object as Readonly<T>);
    const expected = this.#expected.get(owner)?.get(key);
    if (expected === 'create' || object.metadata.deletionTimestamp !== undefined) this.arrived(owner, key);
  }

  onDelete(object: Readonly<KubeObject>, key: string): void {
    const owner = controllerOf(object)?.uid;
    if (owner === undefined) return;
    const owned = this.#byOwner.get(owner);
    owned?.delete(key);
    if (owned?.size === 0) this.#byOwner.delete(owner);
    this.arrived(owner, key);
  }

  of(owner: string): Readonly<T>[] {
    return [...(this.#byOwner.get(owner)?.values() ?? [])];
  }

  /** Whether everything that was written for this owner has been heard of. */
  isSettled(owner: string): boolean {
    return !this.#expected.has(owner);
  }

  /** Before the write: its event may come before its answer. */
  expect(owner: string, key: string, what: 'create' | 'delete'): void {
    entryOf(this.#expected, owner).set(key, what);
  }

  /** Also for what could not be written. */
  arrived(owner: string, key: string): void {
    const expected = this.#expected.get(owner);
    expected?.delete(key);
    if (expected?.size === 0) this.#expected.delete(owner);
  }
}

function entryOf<V>(maps: Map<string, Map<string, V>>, owner: string): Map<string, V> {
  const found = maps.get(owner) ?? new Map<string, V>();
  maps.set(owner, found);
  return found;
}
