// Who follows which range of byte keys, and handing committed changes to them. Most follow one key, or a folder
// (`/registry/pods/`): these are found by looking up the changed key and the folders above it, and only the others are compared
// with every change.
import { bytePrefixEnd } from './byte-key.js';
import type { Change } from './change.js';
import type { Followed } from './mvcc.js';

interface Follower extends Followed {
  readonly receive: (changes: readonly Change[]) => void;
  batch: Change[];
}

export class RangeHub {
  readonly #keys = new Map<string, Set<Follower>>();
  readonly #folders = new Map<string, Set<Follower>>();
  readonly #others = new Set<Follower>();

  /** Live from the next dispatch on. */
  add(followed: Followed, receive: Follower['receive']): { cancel(): void } {
    const follower: Follower = { ...followed, receive, batch: [] };
    const { start, end } = followed;
    if (end === `${start}\0`) return addTo(this.#keys, start, follower);
    if (start.endsWith('/') && end === bytePrefixEnd(start)) return addTo(this.#folders, start, follower);
    this.#others.add(follower);
    return { cancel: () => void this.#others.delete(follower) };
  }

  get isEmpty(): boolean {
    return this.#keys.size + this.#folders.size + this.#others.size === 0;
  }

  // hot: once per commit
  dispatch(changes: readonly Change[]): void {
    if (this.isEmpty) return;
    const touched: Follower[] = [];
    for (const change of changes) {
      const { key } = change;
      for (const follower of this.#keys.get(key) ?? NONE) collect(follower, change, touched);
      for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
        for (const follower of this.#folders.get(key.slice(0, slash + 1)) ?? NONE) collect(follower, change, touched);
      }
      for (const follower of this.#others) {
        if (key >= follower.start && (follower.end === undefined || key < follower.end))
          collect(follower, change, touched);
      }
    }
    for (const follower of touched) {
      const { batch } = follower;
      follower.batch = [];
      follower.receive(batch);
    }
  }
}

const NONE: readonly Follower[] = [];

function addTo(sets: Map<string, Set<Follower>>, key: string, follower: Follower): { cancel(): void } {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(follower));
  return {
    cancel: () => {
      set.delete(follower);
      if (set.size === 0 && sets.get(key) === set) sets.delete(key);
    },
  };
}

function collect(follower: Follower, change: Change, touched: Follower[]): void {
  if (change.revision < follower.startRevision) return;
  if (follower.batch.length === 0) touched.push(follower);
  follower.batch.push(change);
}
