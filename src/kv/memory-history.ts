// The changes that a store in memory keeps, in the order of their revisions.
import type { KvEvent } from './kv.js';

export class MemoryHistory {
  /** Revisions before this one can no longer be read. */
  compacted: number;
  readonly #maxBytes: number;
  #events: KvEvent[] = [];
  #bytes = 0;

  constructor(compacted: number, maxBytes: number) {
    this.compacted = compacted;
    this.#maxBytes = maxBytes;
  }

  add(event: KvEvent): void {
    this.#events.push(event);
    this.#bytes += bytesOf(event);
    if (this.#bytes > this.#maxBytes) this.#dropHalf();
  }

  /** A copy: from this revision on. */
  since(revision: number): KvEvent[] {
    return this.#events.slice(this.#find(revision));
  }

  /** What was written to a key at this revision. */
  valueOf(key: string, revision: number): Buffer | undefined {
    const event = this.#events[this.#find(revision)];
    return event?.type === 'put' && event.key === key && event.revision === revision ? event.value : undefined;
  }

  compact(revision: number): void {
    if (revision <= this.compacted) return;
    this.compacted = revision;
    this.#events = this.#events.slice(this.#find(revision + 1));
    this.#bytes = this.#events.reduce((bytes, event) => bytes + bytesOf(event), 0);
  }

  /** Half of it, so that dropping is rare. The newest change stays, however large. */
  #dropHalf(): void {
    let at = 0;
    let bytes = this.#bytes;
    for (; bytes > this.#maxBytes / 2 && at < this.#events.length - 1; at++) {
      const event = this.#events[at];
      if (event !== undefined) bytes -= bytesOf(event);
    }
    const last = this.#events[at - 1];
    if (last !== undefined) this.compact(last.revision);
  }

  /** The place of the first change of at least this revision: revisions have no gaps but those of changes of several keys. */
  #find(revision: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.revision ?? revision) < revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const bytesOf = ({ key, value, previous }: KvEvent): number =>
  key.length + value.length + (previous?.value.length ?? 0);
