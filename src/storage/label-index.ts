// Which objects have which labels, by namespace. Pods of one deployment share a label set, and a selector evaluates each
// set once, not each object that has it.
//
//   a/ → { app: web → { a/x, a/y },  app: db → a/z }      b/ → { app: web → b/x }
import type { Entry } from './entry.js';
import type { Labels } from './label-sets.js';

/** The most label sets evaluated without yielding; with more distinct sets, walking all objects is as fast. */
const MAX_ASKED = 1024;

/** Most sets that are not shared belong to one object: it stands for itself. */
type Holders = Entry | Set<Entry>;

export class LabelIndex {
  /** By what keys begin with: `namespace/`, or nothing. */
  readonly #byNamespace = new Map<string, Map<Labels, Holders>>();
  #sets = 0;

  // hot: every write
  change(previous: Entry | undefined, entry: Entry | undefined): void {
    if (previous !== undefined) this.#remove(previous);
    if (entry !== undefined) this.add(entry);
  }

  add(entry: Entry): void {
    const { labels } = entry;
    const namespace = namespaceOf(entry);
    let byLabels = this.#byNamespace.get(namespace);
    if (byLabels === undefined) this.#byNamespace.set(namespace, (byLabels = new Map()));
    const holders = byLabels.get(labels);
    if (holders instanceof Set) holders.add(entry);
    else if (holders !== undefined) byLabels.set(labels, new Set([holders, entry]));
    else {
      byLabels.set(labels, entry);
      this.#sets++;
    }
  }

  /** What the keys of the objects begin with, each once. */
  get namespaces(): { readonly size: number; keys(): Iterable<string> } {
    return this.#byNamespace;
  }

  /** Those whose labels are wanted, in no order; undefined where many sets or more objects than `most` are concerned. */
  find(prefix: string, wanted: (labels: Labels) => boolean, most: number): readonly Entry[] | undefined {
    const below = this.#byNamespace.get(prefix);
    if (below === undefined && prefix !== '') return undefined;
    if ((below?.size ?? this.#sets) > MAX_ASKED) return undefined;
    const found: Entry[] = [];
    for (const byLabels of below === undefined ? this.#byNamespace.values() : [below]) {
      for (const [labels, holders] of byLabels) {
        if (!wanted(labels)) continue;
        if (!(holders instanceof Set)) found.push(holders);
        else if (found.length + holders.size > most) return undefined;
        else for (const entry of holders) found.push(entry);
      }
    }
    return found;
  }

  #remove(entry: Entry): void {
    const { labels } = entry;
    const namespace = namespaceOf(entry);
    const byLabels = this.#byNamespace.get(namespace);
    const holders = byLabels?.get(labels);
    if (byLabels === undefined || holders === undefined) return;
    if (holders instanceof Set) {
      holders.delete(entry);
      if (holders.size > 0) return;
    }
    byLabels.delete(labels);
    this.#sets--;
    if (byLabels.size === 0) this.#byNamespace.delete(namespace);
  }
}

const namespaceOf = ({ key }: Entry): string => key.slice(0, key.indexOf('/') + 1);
