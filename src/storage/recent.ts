// What is in memory of some objects only: of those read last their bytes, though the store has them, too, and of those
// updated last the parsed object besides, since who updates an object mostly does so again. Any other object is read from
// the store's memory-mapped file, and parsed.
//
//   add ──▶ young ──▶ old ──▶ dropped      each generation half of the bytes
//
// What was dropped costs one read of the store, or one parse; counting uses would add a cost to every read.

/** Of all resources together. */
const MAX_READ_BYTES = 8 * 1024 * 1024;
/** Of their JSON; the parsed objects take two to three times as much. */
const MAX_UPDATED_BYTES = 4 * 1024 * 1024;

export interface RecentEntry {
  readonly size: number;
  /** Drops the bytes that the store has, too. */
  evict(): void;
  /** Drops the parsed object. */
  forgetObject(): void;
}

class Generations {
  #young: RecentEntry[] = [];
  #old: RecentEntry[] = [];
  #youngBytes = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly drop: (entry: RecentEntry) => void,
  ) {}

  // hot: every read of what is not in memory, and every update
  add(entry: RecentEntry): void {
    if (entry.size > this.maxBytes) return this.drop(entry);
    this.#young.push(entry);
    this.#youngBytes += entry.size;
    if (this.#youngBytes * 2 < this.maxBytes) return;
    for (const old of this.#old) this.drop(old);
    this.#old = this.#young;
    this.#young = [];
    this.#youngBytes = 0;
  }
}

/** Shared by all resources. */
export class Recent {
  readonly read: Generations;
  readonly updated: Generations;

  constructor(maxReadBytes: number = MAX_READ_BYTES, maxUpdatedBytes: number = MAX_UPDATED_BYTES) {
    this.read = new Generations(maxReadBytes, (entry) => entry.evict());
    this.updated = new Generations(maxUpdatedBytes, (entry) => {
      entry.forgetObject();
      entry.evict();
    });
  }
}
