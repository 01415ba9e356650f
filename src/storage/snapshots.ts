// Past states of one resource. The tree copies on write, so a snapshot costs nothing until the state moves on; the
// states that pages of a list need are kept, any other within the history is made by undoing changes.
import type { Clock } from '../lib/async/clock.js';
import type { OrderedMap } from '../lib/values/ordered-map.js';
import type { Entry } from './entry.js';
import type { History } from './history.js';

export type State = OrderedMap<Entry>;

const MAX_SNAPSHOTS = 100;
/** As long as the store keeps its own history. */
const SNAPSHOT_TTL_MS = 5 * 60_000;
/** Of versions that were replaced since the oldest kept state: no more than these are held by kept states alone. */
const MAX_BYTES = 64 * 1024 * 1024;

interface Kept {
  readonly state: State;
  readonly untilMs: number;
  /** What had been replaced before it, as `#replaced` counts. */
  readonly replacedBefore: number;
}

export class Snapshots {
  /** By revision; what was used last is last. */
  readonly #kept = new Map<number, Kept>();
  #stopLooking: (() => void) | undefined;
  /** Bytes of all versions that were replaced so far. */
  #replaced = 0;
  /** The least `replacedBefore` of those kept. */
  #oldest = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly maxBytes = MAX_BYTES,
  ) {}

  /** A version has been replaced or deleted; kept states that hold on to too many go, those of longest ago first. */
  // hot: for each change.
  replaced(bytes: number): void {
    this.#replaced += bytes;
    while (this.#replaced - this.#oldest > this.maxBytes) this.#dropOldest();
  }

  /** Keeps the state at a revision for the list's later pages. */
  keep(revision: number, state: State): void {
    if (!this.#kept.has(revision)) this.#add(revision, state.clone(), this.#replaced);
  }

  /** The state at a revision not ahead of the current one; absent when it can no longer be reconstructed. */
  at(revision: number, current: State, history: History): State | undefined {
    const kept = this.#kept.get(revision);
    if (kept !== undefined) {
      this.#kept.delete(revision);
      this.#kept.set(revision, kept);
      return kept.state;
    }
    if (revision < history.floor) return undefined;
    const changes = history.after(revision);
    if (changes.length === 0) return current;
    const state = current.clone();
    let replacedSince = 0;
    for (let index = changes.length - 1; index >= 0; index--) {
      const change = changes[index];
      if (change === undefined) continue;
      if (change.previous === undefined) state.delete(change.key);
      else state.set(change.key, change.previous);
      replacedSince += change.previous?.size ?? 0;
    }
    this.#add(revision, state, this.#replaced - replacedSince);
    return state;
  }

  clear(): void {
    this.#kept.clear();
    this.#oldest = Infinity;
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }

  #add(revision: number, state: State, replacedBefore: number): void {
    this.#kept.set(revision, { state, untilMs: this.clock.now() + SNAPSHOT_TTL_MS, replacedBefore });
    this.#oldest = Math.min(this.#oldest, replacedBefore);
    if (this.#kept.size > MAX_SNAPSHOTS) {
      for (const longestUnused of this.#kept.keys()) {
        this.#kept.delete(longestUnused);
        break;
      }
    }
    this.#lookLater();
  }

  #dropOldest(): void {
    const oldest = this.#oldest;
    this.#oldest = Infinity;
    for (const [revision, { replacedBefore }] of this.#kept) {
      if (replacedBefore <= oldest) this.#kept.delete(revision);
      else this.#oldest = Math.min(this.#oldest, replacedBefore);
    }
  }

  /** A kept state pins all its versions in memory, so a timer expires it also without further reads. */
  #lookLater(): void {
    this.#stopLooking ??= this.clock.after(SNAPSHOT_TTL_MS / 5, () => {
      this.#stopLooking = undefined;
      const now = this.clock.now();
      for (const [revision, { untilMs }] of this.#kept) if (untilMs <= now) this.#kept.delete(revision);
      if (this.#kept.size > 0) this.#lookLater();
    });
  }
}
