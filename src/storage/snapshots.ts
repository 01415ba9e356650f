// Past states of one resource. The tree copies on write, so a snapshot costs nothing until the state moves on; the
// states that pages of a list need are kept, any other within the history is made by undoing changes.
import { LRUCache } from 'lru-cache';
import type { OrderedMap } from '../lib/ordered-map.js';
import type { Entry } from './entry.js';
import type { History } from './history.js';

export type State = OrderedMap<Entry>;

const MAX_SNAPSHOTS = 100;
/** As long as the store keeps its own history. */
const SNAPSHOT_TTL_MS = 5 * 60_000;

export class Snapshots {
  readonly #kept = new LRUCache<number, State>({ max: MAX_SNAPSHOTS, ttl: SNAPSHOT_TTL_MS });

  /** Remembers the state at a revision because a later page will ask for it. */
  keep(revision: number, state: State): void {
    if (!this.#kept.has(revision)) this.#kept.set(revision, state.clone());
  }

  /** The state at a revision not ahead of the current one; absent when it can no longer be told. */
  at(revision: number, current: State, history: History): State | undefined {
    const kept = this.#kept.get(revision);
    if (kept !== undefined) return kept;
    if (revision < history.floor) return undefined;
    const changes = history.after(revision);
    if (changes.length === 0) return current;
    const state = current.clone();
    for (let index = changes.length - 1; index >= 0; index--) {
      const change = changes[index];
      if (change === undefined) continue;
      if (change.previous === undefined) state.delete(change.key);
      else state.set(change.key, change.previous);
    }
    this.#kept.set(revision, state);
    return state;
  }

  clear(): void {
    this.#kept.clear();
  }
}
