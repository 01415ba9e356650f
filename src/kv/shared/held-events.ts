// What a replica has received and may not hand to its watches yet, and who waits for it.
import type { KvEvent } from '../kv.js';

export class HeldEvents {
  /** Everything up to this revision has been received. */
  received = 0;
  /** What the owner knows to be received. */
  acknowledged = 0;
  /** Everything up to this revision has been handed over. */
  released = 0;
  #batches: { readonly revision: number; readonly events: readonly KvEvent[] }[] = [];
  #waiting: { readonly revision: number; readonly resolve: () => void }[] = [];

  hold(revision: number, events: readonly KvEvent[]): void {
    this.received = revision;
    this.#batches.push({ revision, events });
  }

  // hot: every consistent read
  /** Whether something under this prefix is held back. */
  has(prefix: string): boolean {
    if (this.#batches.length === 0) return false;
    return this.#batches.some(({ events }) => events.some(({ key }) => key.startsWith(prefix)));
  }

  /** Hands over everything up to the revision, in order. */
  release(revision: number, dispatch: (events: readonly KvEvent[]) => void): void {
    let count = 0;
    for (const batch of this.#batches) {
      if (batch.revision > revision) break;
      count++;
    }
    for (const { events } of this.#batches.splice(0, count)) if (events.length > 0) dispatch(events);
    this.released = Math.max(this.released, revision);
    this.received = Math.max(this.received, revision);
    if (this.#waiting.length === 0) return;
    const reached = this.#waiting.filter((waiting) => waiting.revision <= this.released);
    this.#waiting = this.#waiting.filter((waiting) => waiting.revision > this.released);
    for (const { resolve } of reached) resolve();
  }

  /** The stream is over: what is held back comes again. */
  drop(): void {
    this.#batches = [];
    this.received = this.released;
    this.acknowledged = this.released;
  }

  /** The owner cannot go on from here. */
  reset(): void {
    this.released = 0;
    this.drop();
  }

  whenReleased(revision: number): Promise<void> {
    if (revision <= this.released) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ revision, resolve }));
  }
}
