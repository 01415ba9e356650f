// The objects whose bytes are in memory though the store has them, too: the most recently read. A read of any other
// object copies its bytes from the store's memory-mapped file.
//
//   add ──▶ young ──▶ old ──▶ released      each generation half of the bytes
//
// A read of an evicted object costs one read of the store; counting uses would add a cost to every read.

/** Of all resources together. */
const MAX_BYTES = 8 * 1024 * 1024;

export interface KeepsBytes {
  readonly size: number;
  evict(): void;
}

export class RecentBytes {
  #young: KeepsBytes[] = [];
  #old: KeepsBytes[] = [];
  #youngBytes = 0;

  constructor(private readonly maxBytes: number = MAX_BYTES) {}

  // hot: every read of what is not in memory
  add(kept: KeepsBytes): void {
    this.#young.push(kept);
    this.#youngBytes += kept.size;
    if (this.#youngBytes * 2 < this.maxBytes) return;
    for (const old of this.#old) old.evict();
    this.#old = this.#young;
    this.#young = [];
    this.#youngBytes = 0;
  }
}
