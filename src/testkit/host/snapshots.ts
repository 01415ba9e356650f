// The marked states of one cluster.
import type { MemorySnapshot, MemoryStore } from '../../kv/memory.js';
import type { ResetResult, SnapshotFacts, SnapshotRequest } from '../protocol/control.js';
import { ControlError } from './control-error.js';

/** Each keeps the objects that have changed since. */
const MAX_SNAPSHOTS = 10_000;

export class Snapshots {
  readonly #store: MemoryStore;
  readonly #taken = new Map<string, MemorySnapshot>();
  #count = 0;

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  all(): readonly SnapshotFacts[] {
    return Array.from(this.#taken, ([id, snapshot]) => factsOf(id, snapshot));
  }

  take(): SnapshotFacts {
    if (this.#taken.size >= MAX_SNAPSHOTS) throw new ControlError(429, `${MAX_SNAPSHOTS} snapshots are kept already`);
    const id = `s${++this.#count}`;
    const snapshot = this.#store.snapshot();
    this.#taken.set(id, snapshot);
    return factsOf(id, snapshot);
  }

  remove(id: string): void {
    if (!this.#taken.delete(id)) throw unknown(id);
  }

  /** Of this moment where none is named. */
  state(id: string | undefined): MemorySnapshot {
    if (id === undefined) return this.#store.snapshot();
    const snapshot = this.#taken.get(id);
    if (snapshot === undefined) throw unknown(id);
    return snapshot;
  }

  async reset({ snapshot }: SnapshotRequest): Promise<ResetResult> {
    if (snapshot === undefined) throw new ControlError(400, 'name the snapshot to go back to');
    return { changes: await this.#store.restore(this.state(snapshot)) };
  }
}

const factsOf = (id: string, { revision }: MemorySnapshot): SnapshotFacts => ({
  id,
  resourceVersion: String(revision),
});

const unknown = (id: string): ControlError => new ControlError(404, `the cluster has no snapshot ${id.slice(0, 100)}`);
