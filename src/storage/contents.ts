// The current objects of one resource: by key, in the order of keys, by the indexed field and by labels.
import { eachStep, runCooperatively } from '../lib/scheduling/yield.js';
import { OrderedMap, orderedMapOf } from '../lib/values/ordered-map.js';
import type { Entry } from './entry.js';
import { FieldIndex } from './field-index.js';
import type { Change } from './history.js';
import { LabelIndex } from './label-index.js';
import type { State } from './snapshots.js';
import type { Selection } from './store.js';

/** So many changes at most wait for a list to want them in order. */
const MAX_UNPLACED = 1024;
/** So many are put in order at once, in a few milliseconds, when all are read for the first time; more than these, one by one. */
const MAX_LOADED_AT_ONCE = 65_536;
/** Where more than this share of all have a value, walking all in their order is quicker than sorting those. */
const LARGEST_INDEXED_SHARE = 0.25;
/** So many sort in a few milliseconds; of more, all are walked, cooperatively. */
const MAX_SORTED = 4096;
/** In so many a name is looked up in a few milliseconds. */
const MAX_NAMESPACES = 16_384;

/** Which keys are wanted: those that begin with `prefix`, and end with a name where it is not empty. */
interface Range {
  readonly prefix: string;
  readonly nameAnywhere: string;
}

/** What an index found. */
export interface Found {
  readonly entries: readonly Entry[];
  /** Its name, where kube-apiserver has it too. */
  readonly index: string;
}

export class Contents {
  readonly #map = new Map<string, Entry>();
  /** Behind by what has not been put in its place yet: read through `state`. */
  #ordered: State = new OrderedMap();
  #unplaced: Change[] = [];
  /** What was added and is not in its place yet, keys and entries; only while nothing is. */
  #loaded: { readonly keys: string[]; readonly entries: Entry[] } | undefined = { keys: [], entries: [] };
  readonly #index: FieldIndex | undefined;
  readonly #labels = new LabelIndex();
  #bytes = 0;
  #generation: number;

  constructor(
    readonly indexedField: string | undefined,
    /** What these come in the place of. */
    before?: Contents,
  ) {
    this.#generation = (before?.generation ?? 0) + 1;
    if (indexedField !== undefined) this.#index = new FieldIndex();
  }

  get(key: string): Entry | undefined {
    return this.#map.get(key);
  }

  get size(): number {
    return this.#map.size;
  }

  /** Of all objects together, as JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Rises with every change. */
  get generation(): number {
    return this.#generation;
  }

  releaseEncodings(): Promise<void> {
    return runCooperatively(eachStep([...this.#map.values()], (entry) => entry.releaseEncodings()));
  }

  /** In the order of their keys. */
  get state(): State {
    this.#place();
    return this.#ordered;
  }

  /**
   * A superset of the selected objects, in key order, where an index applies and narrows the search. Conditions without an
   * index are not evaluated.
   */
  candidates({ prefix, nameAnywhere }: Range, { fieldValues, labels }: Selection): Found | undefined {
    const named = this.#named(nameAnywhere);
    const byField = named === undefined ? this.#having(fieldValues) : undefined;
    const found = named ?? byField ?? (labels && this.#labels.find(prefix, labels, MAX_SORTED));
    if (found === undefined) return undefined;
    const entries: Entry[] = [];
    for (const key of [...found].sort()) {
      const entry = this.#map.get(key);
      if (entry !== undefined) entries.push(entry);
    }
    return { entries, index: byField === undefined ? '' : `f:${this.indexedField}` };
  }

  /** Each namespace has one at most. */
  #named(name: string): readonly string[] | undefined {
    const { namespaces } = this.#labels;
    if (name === '' || namespaces.size > MAX_NAMESPACES) return undefined;
    return [...namespaces.keys()].map((namespace) => namespace + name);
  }

  #having(values: Selection['fieldValues']): ReadonlySet<string> | undefined {
    if (this.#index === undefined || values === undefined) return undefined;
    const wanted = values.find(({ field }) => field === this.indexedField);
    if (wanted === undefined) return undefined;
    const found = this.#index.find(wanted.value);
    return found.size > this.size * LARGEST_INDEXED_SHARE ? undefined : found;
  }

  /** While it is filled for the first time: all that are there, in the order of their keys. */
  add(entry: Entry): void {
    this.#map.set(entry.key, entry);
    this.#index?.add(entry);
    this.#labels.add(entry);
    this.#bytes += entry.size;
    if (this.#loaded === undefined) {
      this.#ordered.set(entry.key, entry);
      return;
    }
    this.#loaded.keys.push(entry.key);
    this.#loaded.entries.push(entry);
    if (this.#loaded.keys.length >= MAX_LOADED_AT_ONCE) this.#placeLoaded();
  }

  // hot: every write
  apply(change: Change): void {
    const { key, entry, previous } = change;
    if (entry === undefined) this.#map.delete(key);
    else this.#map.set(key, entry);
    entry?.releaseBytes();
    this.#index?.change(previous, entry);
    this.#labels.change(previous, entry);
    this.#bytes += (entry?.size ?? 0) - (previous?.size ?? 0);
    this.#generation++;
    this.#unplaced.push(change);
    if (this.#unplaced.length >= MAX_UNPLACED) this.#place();
  }

  #placeLoaded(): void {
    if (this.#loaded === undefined) return;
    this.#ordered = orderedMapOf(this.#loaded.keys, this.#loaded.entries);
    this.#loaded = undefined;
  }

  /**
   * Only lists want the order, and they are rare beside writes. In the order of their keys many changes are placed in
   * a fraction of the time each alone would take: neighbours find the tree's way to them in the processor's cache.
   */
  #place(): void {
    this.#placeLoaded();
    const changes = this.#unplaced;
    if (changes.length === 0) return;
    this.#unplaced = [];
    if (changes.length > 1) changes.sort(byKeyAndTime);
    for (const [index, { key, entry }] of changes.entries()) {
      if (changes[index + 1]?.key === key) continue;
      if (entry === undefined) this.#ordered.delete(key);
      else this.#ordered.set(key, entry);
    }
  }
}

const byKeyAndTime = (a: Change, b: Change): number =>
  a.key < b.key ? -1 : a.key > b.key ? 1 : a.revision - b.revision;
