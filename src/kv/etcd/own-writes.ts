// Which revisions this process wrote. etcd counts one revision for each write, so where all revisions of a stretch are known,
// everything that happened in it is known, without waiting for the watch:
//
//   revision   41        42        43        44        45
//              cache     pods/a    leases/x  leases/y  etcd's answer      nodes/ is at 45 as it was at 41
//              cache     pods/a    ?         leases/y  etcd's answer      somebody else wrote 43: it may be anything

const KEPT = 1024;
/** A longer stretch is not walked through: its events are far behind. */
const MAX_STRETCH = 256;

export class OwnWrites {
  /** By the remainder of their revision. */
  readonly #revisions: number[] = Array.from({ length: KEPT }, () => 0);
  readonly #keys: string[] = Array.from({ length: KEPT }, () => '');

  // hot: every write
  add(revision: number, key: string): void {
    const at = revision % KEPT;
    // An answer that was long under way is of no use any more.
    if ((this.#revisions[at] as number) > revision) return;
    this.#revisions[at] = revision;
    this.#keys[at] = key;
  }

  // hot: every consistent read
  /** All writes after one revision, up to and with another, are known, and no key among them begins with the prefix. */
  areElsewhere(prefix: string, after: number, upTo: number): boolean {
    if (upTo - after > MAX_STRETCH) return false;
    for (let revision = after + 1; revision <= upTo; revision++) {
      const at = revision % KEPT;
      if (this.#revisions[at] !== revision || (this.#keys[at] as string).startsWith(prefix)) return false;
    }
    return true;
  }
}
