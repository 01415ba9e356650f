// Which objects have a value in the resource's indexed field: `spec.nodeName` of pods, so that a node's own are found
// without a look at those of all others.
//
//   n1 → { a/x, b/y }      n2 → { a/z }      '' → { b/new }
import type { Entry } from './entry.js';

const NONE: ReadonlySet<Entry> = new Set();

export class FieldIndex {
  readonly #byValue = new Map<string, Set<Entry>>();

  // hot: every write of an indexed resource
  change(previous: Entry | undefined, entry: Entry | undefined): void {
    if (previous !== undefined) this.#remove(previous);
    if (entry !== undefined) this.add(entry);
  }

  add(entry: Entry): void {
    const value = entry.indexed ?? '';
    const set = this.#byValue.get(value);
    if (set === undefined) this.#byValue.set(value, new Set([entry]));
    else set.add(entry);
  }

  /** In no order. */
  find(value: string): ReadonlySet<Entry> {
    return this.#byValue.get(value) ?? NONE;
  }

  #remove(entry: Entry): void {
    const value = entry.indexed ?? '';
    const set = this.#byValue.get(value);
    set?.delete(entry);
    if (set?.size === 0) this.#byValue.delete(value);
  }
}
