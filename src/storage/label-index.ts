// Which objects have which labels, by namespace. Pods of one deployment share a label set, and a selector evaluates each
// set once, not each object that has it.
//
//   a/ → { app: web → { a/x, a/y },  app: db → a/z }      b/ → { app: web → b/x }
//
// It has keys, not entries: most updates leave the labels as they are, and nothing is to be changed here.
import type { Entry } from './entry.js';
import type { Labels } from './label-sets.js';

/** The most label sets evaluated without yielding; with more distinct sets, walking all objects is as fast. */
const MAX_ASKED = 1024;

/** Keys. Most sets that are not shared belong to one object: it stands for itself. */
type Holders = string | Set<string>;

export class LabelIndex {
  /** By what keys begin with: `namespace/`, or nothing. */
  readonly #byNamespace = new Map<string, Map<Labels, Holders>>();
  #sets = 0;

  /** Of one object. */
  // hot: every write
  change(previous: Entry | undefined, entry: Entry | undefined): void {
    if (previous !== undefined && previous.labels === entry?.labels) return;
    if (previous !== undefined) this.#remove(previous);
    if (entry !== undefined) this.add(entry);
  }

  add(entry: Entry): void {
    const { key, labels } = entry;
    const namespace = namespaceOf(key);
    let byLabels = this.#byNamespace.get(namespace);
    if (byLabels === undefined) this.#byNamespace.set(namespace, (byLabels = new Map()));
    const holders = byLabels.get(labels);
    if (holders instanceof Set) holders.add(key);
    else if (holders !== undefined) byLabels.set(labels, new Set([holders, key]));
    else {
      byLabels.set(labels, key);
      this.#sets++;
    }
  }

  /** What the keys of the objects begin with, each once. */
  get namespaces(): { readonly size: number; keys(): Iterable<string> } {
    return this.#byNamespace;
  }

  /** The keys of those whose labels are wanted, in no order; undefined where many sets or more objects than `most` are concerned. */
  find(prefix: string, wanted: (labels: Labels) => boolean, most: number): readonly string[] | undefined {
    const below = this.#byNamespace.get(prefix);
    if (below === undefined && prefix !== '') return undefined;
    if ((below?.size ?? this.#sets) > MAX_ASKED) return undefined;
    const found: string[] = [];
    for (const byLabels of below === undefined ? this.#byNamespace.values() : [below]) {
      for (const [labels, holders] of byLabels) {
        if (!wanted(labels)) continue;
        if (!(holders instanceof Set)) found.push(holders);
        else if (found.length + holders.size > most) return undefined;
        else for (const key of holders) found.push(key);
      }
    }
    return found;
  }

  #remove({ key, labels }: Entry): void {
    const namespace = namespaceOf(key);
    const byLabels = this.#byNamespace.get(namespace);
    const holders = byLabels?.get(labels);
    if (byLabels === undefined || holders === undefined) return;
    if (holders instanceof Set) {
      holders.delete(key);
      if (holders.size > 0) return;
    }
    byLabels.delete(labels);
    this.#sets--;
    if (byLabels.size === 0) this.#byNamespace.delete(namespace);
  }
}

const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/') + 1);
