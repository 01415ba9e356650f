// Which objects have a value in the resource's indexed field: `spec.nodeName` of pods, so that a node's own are found
// without a look at those of all others.
//
//   n1 → { a/x, b/y }      n2 → { a/z }      '' → { b/new }
//
// It has keys, not entries: most updates leave the value as it is, and nothing is to be changed here.
import type { Entry } from './entry.js';

const NONE: ReadonlySet<string> = new Set();

export class FieldIndex {
  readonly #byValue = new Map<string, Set<string>>();

  /** Of one object. */
  // hot: every write of an indexed resource
  change(previous: Entry | undefined, entry: Entry | undefined): void {
    if (previous !== undefined && entry !== undefined && previous.indexed === entry.indexed) return;
    if (previous !== undefined) this.#remove(previous);
    if (entry !== undefined) this.add(entry);
  }

  add(entry: Entry): void {
    const value = entry.indexed ?? '';
    const set = this.#byValue.get(value);
    if (set === undefined) this.#byValue.set(value, new Set([entry.key]));
    else set.add(entry.key);
  }

  /** Keys, in no order. */
  find(value: string): ReadonlySet<string> {
    return this.#byValue.get(value) ?? NONE;
  }

  #remove(entry: Entry): void {
    const value = entry.indexed ?? '';
    const set = this.#byValue.get(value);
    set?.delete(entry.key);
    if (set?.size === 0) this.#byValue.delete(value);
  }
}
