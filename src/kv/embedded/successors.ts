// Which change of a key followed which. The log keeps what each change replaced, not what it wrote, so what a revision
// wrote stands in the record of the change that replaced it. Reading the past forwards needs the way there.
//
//   log          2: a new    3: b new    4: a, was a@2    5: b deleted, was b@3
//   successor    2 → 4       3 → 5       4 → none: a@4 is the current version
//
// Four bytes for each revision of the log, of all resources together, are made when somebody first resumes, and brought
// up to date with the records that came since. Everyone who reads the past reads a page of the log here when that is
// due: they share the work, and when the last of them leaves, nobody goes on with it.
//
// Few revisions change several keys. Those have a map of their own, by key; and of a successor that is not the first change of
// its revision its place is kept beside.
import { isLastOfRevision, keyOfLog, replacedRevision } from './records.js';
import type { Tables } from './engine.js';
import { Page, recordsSince } from './past.js';

const MIN_SLOTS = 1024;

export interface Successor {
  readonly revision: number;
  readonly place: number;
}

export class Successors {
  /** Records of the log that were read so far. */
  recordsRead = 0;
  /** The successor of revision `#base + i`, counted from `#base`; 0 for none. */
  #next = new Uint32Array(0);
  /** Of revisions with several changes, by key. */
  readonly #several = new Map<number, Map<string, Successor>>();
  /** Of a successor that is not the first change of its revision, by the revision that it follows. */
  readonly #places = new Map<number, number>();
  #base = 0;
  /** Everything up to this revision has been read, and of the next so many changes. */
  #end = 0;
  #endPlace = 0;

  /** `compacted`: the revision up to which the log has been dropped, or may be. */
  constructor(private readonly compacted: () => number) {}

  /** The next change of a key that this revision changed; undefined where the key has not changed since. */
  of(revision: number, key: string): Successor | undefined {
    const several = this.#several.get(revision);
    if (several !== undefined) return several.get(key);
    const next = this.#next[revision - this.#base] ?? 0;
    return next === 0 ? undefined : { revision: this.#base + next, place: this.#places.get(revision) ?? 0 };
  }

  /** Reads on in the log of the snapshot at hand; true when all of it has been read. */
  readPage(tables: Tables): boolean {
    this.#forgetCompacted();
    const page = new Page();
    for (const [revision, bytes, place] of recordsSince(tables, { revision: this.#end + 1, place: this.#endPlace })) {
      this.recordsRead++;
      const isLast = isLastOfRevision(bytes);
      if (place === 0 && !isLast) this.#several.set(revision, new Map());
      const replaced = replacedRevision(bytes);
      if (replaced > this.#base) this.#follow(replaced, bytes, { revision, place });
      if (isLast) this.#end = revision;
      this.#endPlace = isLast ? 0 : place + 1;
      if (page.isFullWith(bytes)) return false;
    }
    return true;
  }

  #follow(replaced: number, bytes: Buffer, successor: Successor): void {
    const several = this.#several.get(replaced);
    if (several !== undefined) {
      several.set(keyOfLog(bytes), successor);
      return;
    }
    this.#set(replaced, successor.revision);
    if (successor.place > 0) this.#places.set(replaced, successor.place);
  }

  #set(revision: number, successor: number): void {
    const slot = revision - this.#base;
    if (slot >= this.#next.length) {
      const larger = new Uint32Array(Math.max(MIN_SLOTS, 2 * slot));
      larger.set(this.#next);
      this.#next = larger;
    }
    this.#next[slot] = successor - this.#base;
  }

  /** Moving the rest is paid once for many revisions. */
  #forgetCompacted(): void {
    const base = this.compacted();
    const gone = base - this.#base;
    if (base > this.#end) {
      this.#next = new Uint32Array(0);
      this.#end = base;
      this.#endPlace = 0;
    } else if (gone > MIN_SLOTS && gone * 2 > this.#next.length) {
      this.#next = this.#next.slice(gone).map((next) => (next === 0 ? 0 : next - gone));
    } else return;
    this.#base = base;
    for (const revisions of [this.#several, this.#places]) {
      for (const revision of revisions.keys()) if (revision <= base) revisions.delete(revision);
    }
  }
}
