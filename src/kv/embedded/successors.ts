// Which change of a key followed which. The log keeps what each change replaced, not what it wrote, so what a revision
// wrote stands in the record of the change that replaced it. Reading the past forwards needs the way there.
//
//   log          2: a new    3: b new    4: a, was a@2    5: b deleted, was b@3
//   successor    2 → 4       3 → 5       4 → none: a@4 is the current version
//
// Four bytes for each revision of the log, of all resources together, are made when somebody first resumes, and brought
// up to date with the records that came since. Everyone who reads the past reads a page of the log here when that is
// due: they share the work, and when the last of them leaves, nobody goes on with it.
import { recordsSince, Page, type Tables } from './past.js';
import { replacedRevision } from './records.js';

const MIN_SLOTS = 1024;

export class Successors {
  /** Records of the log that were read so far. */
  recordsRead = 0;
  /** The successor of revision `#base + i`, counted from `#base`; 0 for none. */
  #next = new Uint32Array(0);
  #base = 0;
  /** Everything up to this revision has been read. */
  #end = 0;

  /** `compacted`: the revision up to which the log has been dropped, or may be. */
  constructor(private readonly compacted: () => number) {}

  /** The revision of the next change of the key that this revision changed; 0 where that has not changed since. */
  of(revision: number): number {
    const next = this.#next[revision - this.#base] ?? 0;
    return next === 0 ? 0 : this.#base + next;
  }

  /** Reads on in the log of the snapshot at hand; true when all of it has been read. */
  readPage(tables: Tables): boolean {
    this.#forgetCompacted();
    const page = new Page();
    for (const [revision, bytes] of recordsSince(tables, this.#end + 1)) {
      this.recordsRead++;
      this.#end = revision;
      const replaced = replacedRevision(bytes);
      if (replaced > this.#base) this.#set(replaced, revision);
      if (page.isFullWith(bytes)) return false;
    }
    return true;
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
    } else if (gone > MIN_SLOTS && gone * 2 > this.#next.length) {
      this.#next = this.#next.slice(gone).map((next) => (next === 0 ? 0 : next - gone));
    } else return;
    this.#base = base;
  }
}
