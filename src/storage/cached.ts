// One resource behind the watch cache: reads and watches from memory, writes straight to the store.
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { KubeObject } from '../machinery/object.js';
import type { Trace } from '../tracing/trace.js';
import { Cache } from './cache.js';
import { CachedLists } from './cached-lists.js';
import { CachedReads } from './cached-reads.js';
import type { DirectStore } from './direct.js';
import type { Entry } from './entry.js';
import { fromKv, storageError } from './errors.js';
import { noteRead, recordCachedGet, recordCachedList } from './record.js';
import type { HistoryLoader } from './load-history.js';
import { startWatch } from './start-watch.js';
import { type ListPlan, parseRevision, planList } from './list.js';
import {
  type ListRequest,
  type ListResult,
  type ManagedResourceStore,
  type ResourceStoreOptions,
  StorageError,
  type EncodedWriteOptions,
  type Watch,
  type WatchEvent,
  type WatchRequest,
} from './store.js';

/** A read of one object waits this long for the cache before it reads the object from the store. */
const SOON_MS = 100;
/** A trace's events before and after waiting until the cache reaches the requested revision. */
const LOCKED = 'watchCache locked acquired';
const FRESH = 'watchCache fresh enough';

export class CachedStore implements ManagedResourceStore {
  readonly options: ResourceStoreOptions;
  readonly local: CachedReads;
  readonly #lists: CachedLists;

  constructor(
    readonly cache: Cache,
    readonly direct: DirectStore,
    readonly loader: HistoryLoader,
  ) {
    this.options = direct.options;
    this.#lists = new CachedLists(cache, direct.options);
    this.local = new CachedReads(cache, this.#lists, direct.options);
  }

  get(key: string, minRevision: string, trace?: Trace): Promise<Entry | undefined> {
    const span = recordCachedGet(trace, this.options, key, minRevision);
    if (span === undefined) return this.#get(key, minRevision, trace);
    noteRead(span, minRevision);
    return this.#get(key, minRevision, span).finally(() => span.end());
  }

  #get(key: string, minRevision: string, trace: Trace | undefined): Promise<Entry | undefined> {
    const { cache } = this;
    return minRevision === '' && !cache.kv.local && cache.filled && !cache.stalled
      ? this.#getNewest(key, trace)
      : this.#getOnceFilled(key, minRevision, trace);
  }

  async #getOnceFilled(key: string, minRevision: string, trace: Trace | undefined): Promise<Entry | undefined> {
    if (!(await this.#canBeFilled()) || (this.cache.stalled && minRevision !== '0')) {
      return this.direct.get(key, minRevision, trace);
    }
    if (
      minRevision === '' &&
      !(this.cache.kv.local && this.cache.isSettled(key) && !this.cache.values.decryptsEachRead)
    ) {
      return this.#getNewest(key, trace);
    }
    const span = minRevision === '' ? undefined : trace?.span;
    const wanted = parseRevision(minRevision);
    span?.event(LOCKED);
    if (wanted > this.cache.revision) await this.cache.waitForRevision(wanted);
    span?.event(FRESH);
    return this.cache.contents.get(key);
  }

  /** As get() of the most recent version, as part of a write, which has a span of its own. */
  async getForUpdate(key: string, trace?: Trace): Promise<Entry | undefined> {
    const isHere = this.cache.kv.local || !(await this.#canBeFilled()) || this.cache.stalled;
    return isHere ? this.#get(key, '', trace) : this.#getStored(key, trace);
  }

  create(key: string, object: KubeObject, options?: EncodedWriteOptions): Promise<Entry> {
    return this.#onceFilled(() => this.direct.create(key, object, options));
  }

  update(key: string, expectedRevision: number, object: KubeObject, options?: EncodedWriteOptions): Promise<Entry> {
    return this.#onceFilled(() => this.direct.update(key, expectedRevision, object, options));
  }

  delete(key: string, expectedRevision: number, trace?: Trace): Promise<Entry> {
    const known = (): Entry | undefined => this.local.getMaybeStale(key) ?? this.cache.contents.get(key);
    return this.#onceFilled(() => this.direct.delete(key, expectedRevision, trace, known()));
  }

  isStale(key: string, revision: number, certain: boolean): MaybePromise<boolean> {
    return certain && !this.direct.values.mayBeStale ? false : this.#isStale(key, revision, certain);
  }

  async #isStale(key: string, revision: number, certain: boolean): Promise<boolean> {
    const known = this.local.getMaybeStale(key);
    if (known?.revision === revision && known.isInCurrentForm) {
      if (certain || (await this.#isNewest(key, revision))) return false;
    }
    const stale = await this.direct.isStale(key, revision, certain);
    if (!stale) this.cache.values.noteCurrentForm(this.cache.contents.get(key), revision);
    return stale;
  }

  /** False when the revision is not the newest, or only a read of the object could show it. */
  async #isNewest(key: string, revision: number): Promise<boolean> {
    return (await this.#getNewest(key, undefined))?.revision === revision;
  }

  /** Past the cache, which cannot be filled while there is something unreadable. */
  async deleteUnreadable(key: string, dryRun: boolean): Promise<boolean> {
    const deleted = await this.direct.deleteUnreadable(key, dryRun);
    if (deleted && !dryRun) await this.cache.lookAgain();
    return deleted;
  }

  list(request: ListRequest): Promise<ListResult> {
    return request.trace?.span === undefined ? this.#list(request) : this.#listRecorded(request);
  }

  async #listRecorded(request: ListRequest): Promise<ListResult> {
    // An invalid request is refused before its span begins.
    planList(this.options, request);
    const span = recordCachedList(request.trace, this.options);
    return this.#list({ ...request, trace: span }).finally(() => span?.end());
  }

  async #list(request: ListRequest): Promise<ListResult> {
    const plan = planList(this.options, request);
    // A page is read from the store while the cache cannot be filled; whole lists might be many and large.
    if (request.limit > 0 && request.predicate === undefined) {
      if (!(await this.#canBeFilled())) return this.direct.list(request);
    } else {
      await this.cache.ready();
    }
    const span = request.trace?.span;
    span?.event('Ready');
    // A list at "any" version is answered whole, whatever its limit, as kube-apiserver's cache does.
    const whole = request.resourceVersion === '0' ? { ...plan, limit: 0 } : plan;
    switch (plan.freshness.kind) {
      case 'exact':
        return this.#listExact(whole, request, plan.freshness.revision);
      case 'most-recent':
        if (!this.#canCatchUp()) return this.direct.list(request);
        try {
          await fromKv(this.cache.waitForLatest(request.trace));
          span?.event(LOCKED);
          this.cache.metrics.consistentRead?.(true, false);
        } catch (error) {
          if (!(error instanceof StorageError && error.code === 'too-new')) throw error;
          this.cache.metrics.consistentRead?.(true, true);
          return this.direct.list(request);
        }
        break;
      case 'not-older-than':
        span?.event(LOCKED);
        await this.cache.waitForRevision(plan.freshness.revision);
    }
    span?.event(FRESH);
    const { revision } = this.cache;
    const listed = this.#lists.current(whole, request, revision);
    const result = listed instanceof Promise ? await listed : listed;
    this.#lists.record(result, span);
    if (result.continue !== '') this.cache.keepSnapshot(revision);
    return result;
  }

  async watch(request: WatchRequest, receive: (events: readonly WatchEvent[]) => boolean): Promise<Watch> {
    const from = parseRevision(request.resourceVersion);
    await this.cache.ready();
    const wantsNewest = request.sendInitialEvents !== undefined && request.resourceVersion === '';
    if (wantsNewest && !this.#canCatchUp()) return this.direct.watch(request, receive);
    const { cache, loader, options } = this;
    return startWatch({ cache, loader, options, lists: this.#lists }, { request, from, receive });
  }

  #onceFilled<T>(write: () => Promise<T>): Promise<T> {
    return this.cache.filled ? write() : this.#canBeFilled().then(write);
  }

  /** One object that cannot be read keeps the cache empty; the others are then read and written without it. */
  async #canBeFilled(): Promise<boolean> {
    try {
      await this.cache.ready();
      return true;
    } catch (error) {
      if (error instanceof StorageError && error.code === 'initializing') return false;
      throw error;
    }
  }

  /** Counting needs no objects, so it does not fill a cache that nobody has read yet. */
  async count(): Promise<number> {
    return this.cache.filled && !this.cache.stalled ? this.cache.contents.size : this.direct.count();
  }

  ready(): Promise<void> {
    return this.cache.ready();
  }

  close(): void {
    this.cache.close();
    this.direct.close();
  }

  // hot: every get from a store elsewhere. An async function would take several times the memory.
  /** Concurrent reads share one request for the store's revision instead of one for each object. */
  #getNewest(key: string, trace: Trace | undefined): Promise<Entry | undefined> {
    // A traced read goes to the store, as kube-apiserver's does.
    if (trace?.span !== undefined || !this.#isKept || !this.#canCatchUp()) return this.#getStored(key, trace);
    return this.cache.getLatest(key, SOON_MS).then(
      (entry) => (this.cache.filled && !this.cache.stalled ? entry : this.#getStored(key, trace)),
      (error: unknown) => {
        const failure = storageError(error, this.options);
        if (failure instanceof StorageError && failure.code === 'too-new') return this.#getStored(key, trace);
        throw failure;
      },
    );
  }

  /** False where the cache may not serve decrypted objects: their key is removed, or must be requested for each read. */
  get #isKept(): boolean {
    return this.cache.values.transformer?.changed !== true && !this.cache.values.decryptsEachRead;
  }

  /** Reads the object from the store; its revision is usually that of a cached entry. */
  async #getStored(key: string, trace: Trace | undefined): Promise<Entry | undefined> {
    const kv = await fromKv(this.cache.kv.get(this.options.prefix + key, { trace }), this.options);
    if (kv === undefined) return undefined;
    const known = this.cache.contents.get(key);
    if (known?.revision === kv.modRevision && this.#isKept) return known;
    return this.cache.values.entry(key, kv.value, kv.modRevision, trace);
  }

  async #listExact(plan: ListPlan, request: ListRequest, revision: number): Promise<ListResult> {
    if (this.cache.stalled && revision > this.cache.revision) return this.direct.list(request);
    const span = request.trace?.span;
    span?.event(LOCKED);
    await this.cache.waitForRevision(revision);
    const { history } = this.cache;
    // What the store has forgotten is over, though this memory may still know it: tokens last as long on every server.
    if (this.cache.isCompacted(revision)) return this.direct.list(request);
    // Later pages of a list mostly come while nothing has changed since its first.
    const unchanged = revision >= history.floor && history.after(revision).length === 0;
    const state = unchanged ? undefined : this.cache.stateAt(revision);
    // Older than our history: the store may still know.
    if (!unchanged && state === undefined) return this.direct.list(request);
    const result = await (state === undefined
      ? this.#lists.current(plan, request, revision)
      : this.#lists.past(state, plan, request, revision));
    span?.event(FRESH);
    this.#lists.record(result, span);
    return result;
  }

  #canCatchUp(): boolean {
    return this.cache.kv.local || this.cache.kv.supportsProgressRequests();
  }
}
