// One version of a custom resource whose webhook converts between versions: a store in that version, over the store
// that has every object in the version it was written in.
//
//   registry of v2 ── view in v2 ─┐
//   registry of v1 ── view in v1 ─┴─ store: a (v1), b (v1), c (v2) …     written in the storage version from now on
//
// What is listed and watched in another version than it lies there is converted once, and kept for as long as the store
// keeps it; who reads one object as it is now has it converted anew, for the webhook may have changed its mind.
import { append } from '../../lib/values/append.js';
import { workOnTree } from '../../machinery/size-hint.js';
import type { JsonObject, KubeObject } from '../../machinery/object.js';
import { EntrySource } from '../../storage/entry-source.js';
import { Entry, entryOf, withoutResourceVersion } from '../../storage/entry.js';
import { stringAt } from '../../storage/scan-json.js';
import {
  type ListRequest,
  type ListResult,
  encodedBy,
  loadedAll,
  type LocalReads,
  type ResourceStore,
  type ResourceStoreOptions,
  StorageError,
  type StoredObject,
  type EncodedWriteOptions,
  type StoreView,
  unselected,
} from '../../storage/store.js';
import { stillInitializing } from '../../storage/unreadable.js';
import type { Trace } from '../../tracing/trace.js';
import type { Converter, Form } from './converter.js';
import type { Converted } from './converted.js';
import { watchConverted } from './watch-converted.js';

export interface VersionViewOptions {
  readonly base: ResourceStore;
  /** Of the view: its version, its codec and the fields it can be selected by. */
  readonly options: ResourceStoreOptions;
  readonly apiVersion: string;
  readonly storageApiVersion: string;
  readonly converter: Converter;
  /** What is made of objects that were converted into a version. */
  readonly formOf: (apiVersion: string) => Form;
  readonly nowMs: () => number;
}

/** What is converted in one call: the answer must have room in what is read of one. */
const MAX_BATCH_OBJECTS = 500;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

export class VersionView implements ResourceStore {
  readonly options: ResourceStoreOptions;
  readonly base: ResourceStore;
  readonly local: LocalReads | undefined;
  readonly view: StoreView = this;
  readonly #view: VersionViewOptions;
  readonly #head: Buffer;
  readonly #source: EntrySource;
  readonly #known = new WeakMap<StoredObject, Entry>();
  readonly #underWay = new WeakMap<StoredObject, Promise<Entry>>();
  /** Whether all there is could be converted, as kube-apiserver's watch cache of a version does before it is ready. */
  #isReady = false;
  #unreadySinceMs: number;

  constructor(view: VersionViewOptions) {
    this.#view = view;
    this.base = view.base;
    this.local = view.base.local && this.#localReads(view.base.local);
    this.options = view.options;
    this.#source = new EntrySource(view.options);
    this.#unreadySinceMs = view.nowMs();
    this.#head = Buffer.from(`{"apiVersion":${JSON.stringify(view.apiVersion)},`);
  }

  async get(key: string, minRevision: string, trace?: Trace): Promise<StoredObject | undefined> {
    const stored = await this.base.get(key, minRevision, trace);
    if (stored === undefined || minRevision !== '') return stored && this.seen(stored);
    return this.#isOwn(stored) ? stored : this.#fetched(this.#fetch([stored], false), stored);
  }

  getForUpdate(key: string, trace?: Trace): Promise<StoredObject | undefined> {
    return this.get(key, '', trace);
  }

  async create(
    key: string,
    object: KubeObject,
    { ttlSeconds, trace }: EncodedWriteOptions = {},
  ): Promise<StoredObject> {
    const { object: stored, json } = await this.#toStored(object);
    return this.seen(await this.base.create(key, stored, { ttlSeconds, trace, json }));
  }

  async update(
    key: string,
    expectedRevision: number,
    object: KubeObject,
    { ttlSeconds, trace }: EncodedWriteOptions = {},
  ): Promise<StoredObject> {
    const { object: stored, json } = await this.#toStored(object);
    try {
      return await this.seen(await this.base.update(key, expectedRevision, stored, { ttlSeconds, trace, json }));
    } catch (error) {
      throw await this.#seenError(error);
    }
  }

  async delete(key: string, expectedRevision: number, trace?: Trace): Promise<StoredObject> {
    try {
      return await this.seen(await this.base.delete(key, expectedRevision, trace));
    } catch (error) {
      throw await this.#seenError(error);
    }
  }

  async ready(): Promise<void> {
    await this.base.ready();
    if (this.base.local === undefined) return;
    if (!this.#isReady) await this.#orUnready(this.#becomeReady());
  }

  deleteUnreadable(key: string, dryRun: boolean): Promise<boolean> {
    return this.base.deleteUnreadable(key, dryRun);
  }

  /**
   * kube-apiserver lists from the watch cache of the version, which is not ready while anything cannot be converted, and
   * from the store without one, or a page without a selection.
   */
  async list(request: ListRequest): Promise<ListResult> {
    const isPage = request.limit > 0 && request.predicate === undefined && (request.name ?? '') === '';
    const fromStore = isPage || this.base.local === undefined;
    return fromStore ? this.#list(request) : this.#orUnready(this.#list(request));
  }

  /** A selection is made on the converted objects, so that a page may need several reads. */
  async #list(request: ListRequest): Promise<ListResult> {
    const { predicate } = request;
    const rest = unselected(request);
    const items: StoredObject[] = [];
    let pageRequest: ListRequest = rest;
    for (;;) {
      const page = await this.base.list(pageRequest);
      const seen = await this.seenAll(page.items);
      append(items, predicate === undefined ? seen : seen.filter(predicate));
      const left = request.limit - items.length;
      if (predicate === undefined || page.continue === '' || left <= 0) return { ...page, items };
      pageRequest = { ...rest, limit: left, continue: page.continue };
    }
  }

  watch: ResourceStore['watch'] = (request, receive) => watchConverted(this, request, receive);

  async #becomeReady(): Promise<void> {
    const { items } = await this.base.list(EVERYTHING);
    await this.seenAll(items, true);
    this.#isReady = true;
  }

  /** What cannot be converted keeps the watch cache from becoming ready. */
  async #orUnready<T>(reading: Promise<T>): Promise<T> {
    try {
      return await reading;
    } catch (error) {
      if (!(error instanceof StorageError) || error.code !== 'conversion') throw error;
      throw stillInitializing(this.options, error, (this.#view.nowMs() - this.#unreadySinceMs) / 1000);
    }
  }

  count(): Promise<number> {
    return this.base.count();
  }

  /** Only what lies there in the view's version is at hand. */
  #localReads(base: LocalReads): LocalReads {
    return {
      isAuthoritative: false,
      get isEmpty() {
        return base.isEmpty;
      },
      amount: undefined,
      getCached: (key) => {
        const stored = base.getCached(key);
        return stored !== undefined && this.#isOwn(stored) ? stored : undefined;
      },
      listCached: () => undefined,
      getMaybeStale: () => undefined,
      listMaybeStale: () => undefined,
    };
  }

  /** Into the version that would be stored and back, as the answer of a write shows it. */
  async dryRunResult(object: KubeObject): Promise<KubeObject> {
    const { apiVersion, storageApiVersion } = this.#view;
    if (apiVersion === storageApiVersion) return object;
    const [back] = await this.#convert([await (await this.#toStorage(object)).object()], apiVersion);
    return back === undefined ? object : back.object();
  }

  /** What lies there in an older version is to be moved, also by an update that changes nothing. */
  async isStale(key: string, revision: number, certain: boolean): Promise<boolean> {
    const stored = await this.base.get(key, '');
    if (stored === undefined || versionIn(stored) !== this.#view.storageApiVersion) return true;
    return this.base.isStale(key, revision, certain);
  }

  /** A stored object in the view's version. */
  async seen(stored: StoredObject): Promise<StoredObject> {
    return this.#atHand(stored) ?? this.#fetched(this.#fetch([stored], false), stored);
  }

  /**
   * Converts many, with one call for all that have to be converted. `shared` waits for the conversions of others:
   * only watches do, for a webhook may itself read what it has to convert.
   */
  async seenAll(stored: readonly StoredObject[], shared = false): Promise<readonly StoredObject[]> {
    const missing: StoredObject[] = [];
    const seen = stored.map((each) => {
      const known = this.#atHand(each);
      if (known === undefined) missing.push(each);
      return known;
    });
    const fetched = this.#fetch(missing, shared);
    try {
      return await Promise.all(seen.map(async (known, index) => known ?? this.#fetched(fetched, stored[index])));
    } catch (error) {
      if (this.#isReady) this.#unreadySinceMs = this.#view.nowMs();
      this.#isReady = false;
      throw error;
    }
  }

  async #fetched(
    fetched: ReadonlyMap<StoredObject, Promise<StoredObject>>,
    stored: StoredObject | undefined,
  ): Promise<StoredObject> {
    const entry = stored && fetched.get(stored);
    if (entry === undefined) throw new Error('an object was not requested');
    return entry;
  }

  #atHand(stored: StoredObject): StoredObject | undefined {
    return this.#known.get(stored) ?? (this.#isOwn(stored) ? stored : undefined);
  }

  /** Whether it lies there in the view's version. */
  #isOwn(stored: StoredObject): boolean {
    // hot: a custom resource encodes its members sorted, so that most begin with their version.
    if (stored.json.subarray(0, this.#head.length).equals(this.#head)) return true;
    return versionIn(stored) === this.#view.apiVersion;
  }

  #fetch(wanted: readonly StoredObject[], shared: boolean): ReadonlyMap<StoredObject, Promise<StoredObject>> {
    const fetched = new Map<StoredObject, Promise<StoredObject>>();
    const missing: StoredObject[] = [];
    for (const stored of wanted) {
      const underWay = shared ? this.#underWay.get(stored) : undefined;
      if (underWay === undefined) missing.push(stored);
      else fetched.set(stored, underWay);
    }
    // One after the other: a long list is no reason to have a converter do much at once.
    let before: Promise<unknown> = Promise.resolve();
    for (const batch of batchesOf(missing)) {
      const converting = before.then(async () => {
        const objects = (await loadedAll(batch)).map(withoutResourceVersion);
        return this.#convert(objects, this.#view.apiVersion);
      });
      before = converting;
      for (const [index, stored] of batch.entries()) {
        const entry = converting
          .then((converted) => this.#keep(stored, converted[index]))
          .finally(() => this.#underWay.delete(stored));
        // The caller gets the error; others that wait for one of many must not find a rejection nobody handled.
        entry.catch(() => undefined);
        this.#underWay.set(stored, entry);
        fetched.set(stored, entry);
      }
    }
    return fetched;
  }

  async #keep(stored: StoredObject, converted: Converted | undefined): Promise<Entry> {
    if (converted === undefined) throw new Error('an object was not converted');
    const { key, revision } = stored;
    let entry: Entry;
    if (converted.json === undefined) {
      const object = await converted.object();
      const json = await encodedBy(this.options.codec, object, workOnTree(object));
      entry = entryOf(this.#source, { key, revision, json }, { object });
      // The caller wants the object now; for later the bytes are enough.
      entry.object();
    } else entry = entryOf(this.#source, { key, revision, json: converted.json });
    entry.settle();
    this.#known.set(stored, entry);
    return entry;
  }

  /** As it is stored, where it is large: the store itself encodes what is small. */
  async #encodedLarge(object: KubeObject): Promise<Buffer | undefined> {
    const work = workOnTree(object);
    return work.isLarge ? encodedBy(this.base.options.codec, object, work) : undefined;
  }

  async #toStorage(object: KubeObject): Promise<Converted> {
    const { apiVersion, storageApiVersion } = this.#view;
    if (apiVersion === storageApiVersion) return { object: () => object };
    const [converted] = await this.#convert([withoutResourceVersion(object)], storageApiVersion);
    return converted ?? { object: () => object };
  }

  async #toStored(object: KubeObject): Promise<{ readonly object: KubeObject; readonly json: Buffer | undefined }> {
    const converted = await this.#toStorage(object);
    const stored = await converted.object();
    return { object: stored, json: converted.json ?? (await this.#encodedLarge(stored)) };
  }

  #convert(objects: readonly KubeObject[], apiVersion: string): Promise<Converted[]> {
    const { converter, formOf } = this.#view;
    return converter.convert(objects as readonly (JsonObject & KubeObject)[], apiVersion, formOf(apiVersion));
  }

  /** The object in a conflict is one of the store's. */
  async #seenError(error: unknown): Promise<unknown> {
    if (!(error instanceof StorageError) || error.details.current === undefined) return error;
    const current = await this.seen(error.details.current);
    return new StorageError(error.code, error.message, { ...error.details, current });
  }
}

const EVERYTHING: ListRequest = {
  namespace: '',
  resourceVersion: '',
  resourceVersionMatch: '',
  limit: 0,
  continue: '',
};

/** Found without reading the object. */
const versionIn = ({ json }: StoredObject): string => stringAt(json, API_VERSION);

const API_VERSION = ['apiVersion'];

function* batchesOf(stored: readonly StoredObject[]): IterableIterator<readonly StoredObject[]> {
  let batch: StoredObject[] = [];
  let bytes = 0;
  for (const each of stored) {
    if (batch.length === MAX_BATCH_OBJECTS || (batch.length > 0 && bytes + each.size > MAX_BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(each);
    bytes += each.size;
  }
  if (batch.length > 0) yield batch;
}
