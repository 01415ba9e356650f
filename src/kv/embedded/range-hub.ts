// Who follows which range of byte keys, and handing committed changes to them. Most follow one key, or a folder
// (`/registry/pods/`): these are found by looking up the changed key and the folders above it, and only the others are compared
// with every change.
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { bytePrefixEnd } from './byte-key.js';
import type { Change } from './change.js';
import type { Followed } from './mvcc.js';

interface Follower extends Followed {
  readonly receive: (changes: readonly Change[]) => void;
  batch: Change[];
  isCancelled: boolean;
}

/** So many are collected in a few milliseconds. */
const CHANGES_PER_STEP = 2048;

export class RangeHub {
  readonly #keys = new Map<string, Set<Follower>>();
  readonly #folders = new Map<string, Set<Follower>>();
  readonly #others = new Set<Follower>();
  /** Those with something in their batch. */
  #touched: Follower[] = [];
  /** What was collected so far of a commit with very many changes. */
  #collected: Change[] = [];

  /** Live from the next dispatch on. */
  add(followed: Followed, receive: Follower['receive']): { cancel(): void } {
    const follower: Follower = { ...followed, receive, batch: [], isCancelled: false };
    // The commit that is being dispatched is none that it was too late for.
    for (const change of this.#collected) if (isIn(follower, change.key)) this.#hand(change, follower);
    const remove = this.#addToIndex(follower);
    return {
      cancel: () => {
        follower.isCancelled = true;
        remove();
      },
    };
  }

  #addToIndex(follower: Follower): () => void {
    const { start, end } = follower;
    if (end === `${start}\0`) return addTo(this.#keys, start, follower);
    if (start.endsWith('/') && end === bytePrefixEnd(start)) return addTo(this.#folders, start, follower);
    this.#others.add(follower);
    return () => void this.#others.delete(follower);
  }

  get isEmpty(): boolean {
    return this.#keys.size + this.#folders.size + this.#others.size === 0;
  }

  // hot: once per commit
  dispatch(changes: readonly Change[]): void {
    if (this.isEmpty) return;
    for (const change of changes) this.#collect(change);
    this.deliver();
  }

  /** dispatch() in steps, for very many changes: what is collected in steps is delivered by `deliver`. Nothing else is dispatched meanwhile. */
  *collectSteps(changes: readonly Change[]): StepGenerator<void> {
    this.#collected = [];
    for (const change of changes) {
      this.#collect(change);
      this.#collected.push(change);
      if (this.#collected.length % CHANGES_PER_STEP === 0) yield;
    }
    this.#collected = [];
  }

  deliver(): void {
    const touched = this.#touched;
    this.#touched = [];
    for (const follower of touched) {
      const { batch } = follower;
      follower.batch = [];
      if (!follower.isCancelled) follower.receive(batch);
    }
  }

  #collect(change: Change): void {
    const { key } = change;
    for (const follower of this.#keys.get(key) ?? NONE) this.#hand(change, follower);
    for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
      for (const follower of this.#folders.get(key.slice(0, slash + 1)) ?? NONE) this.#hand(change, follower);
    }
    for (const follower of this.#others) if (isIn(follower, key)) this.#hand(change, follower);
  }

  #hand(change: Change, follower: Follower): void {
    if (change.revision < follower.startRevision) return;
    if (follower.batch.length === 0) this.#touched.push(follower);
    follower.batch.push(change);
  }
}

const isIn = ({ start, end }: Followed, key: string): boolean => key >= start && (end === undefined || key < end);

const NONE: readonly Follower[] = [];

/** Answers how to remove it. */
function addTo(sets: Map<string, Set<Follower>>, key: string, follower: Follower): () => void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(follower));
  return () => {
    set.delete(follower);
    if (set.size === 0 && sets.get(key) === set) sets.delete(key);
  };
}
