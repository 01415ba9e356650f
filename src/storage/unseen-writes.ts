// Writes of this process that a store elsewhere has answered, and whose events have not come back yet. An event is known
// again by its key and revision: its entry is what was written, and nothing of it is read a second time.
import type { Entry } from './entry.js';

/** More are not waited for: then nothing watches the store, or the events are far behind. */
const MAX_UNSEEN = 1024;

export class UnseenWrites {
  readonly #byRevision = new Map<number, Entry>();
  /** Of each key the newest. */
  readonly #lastOf = new Map<string, Entry>();

  get isEmpty(): boolean {
    return this.#byRevision.size === 0;
  }

  add(entry: Entry): void {
    if (this.#byRevision.size >= MAX_UNSEEN) this.#dropOldest();
    this.#byRevision.set(entry.revision, entry);
    const last = this.#lastOf.get(entry.key);
    if (last === undefined || last.revision < entry.revision) this.#lastOf.set(entry.key, entry);
  }

  /** The entry of an event that has come, if this process wrote it. */
  // hot: every event
  take(key: string, revision: number): Entry | undefined {
    if (this.#byRevision.size === 0) return undefined;
    const last = this.#lastOf.get(key);
    if (last === undefined) return undefined;
    if (last.revision <= revision) this.#lastOf.delete(key);
    const entry = this.#byRevision.get(revision);
    if (entry?.key !== key) return undefined;
    this.#byRevision.delete(revision);
    return entry;
  }

  /** What this process wrote last under a key, while its event has not come. */
  lastOf(key: string): Entry | undefined {
    return this.#lastOf.get(key);
  }

  #dropOldest(): void {
    for (const [revision, { key }] of this.#byRevision) {
      this.#byRevision.delete(revision);
      if (this.#lastOf.get(key)?.revision === revision) this.#lastOf.delete(key);
      return;
    }
  }
}
