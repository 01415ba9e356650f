// One resource straight on the key-value store: every write goes here; reads too when the cache is off or cannot answer.
import type { KubeObject } from '../machinery/object.js';
import { type Clock, systemClock } from '../lib/async/clock.js';
import { errorText } from '../lib/text/error-text.js';
import { Yielder } from '../lib/scheduling/yield.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { KeyValue, KeyValueStore, KvEvent, RangeResult, WriteResult } from '../kv/kv.js';
import { KvError, prefixEnd } from '../kv/kv.js';
import type { Entry } from './entry.js';
import { fromKv, listError, storageError } from './errors.js';
import { expiredWatch, MissedInStore } from './catch-up.js';
import type { Change } from './history.js';
import { changeOf, type HistoryLoader } from './load-history.js';
import {
  expiredContinue,
  expiredList,
  type ListPlan,
  nextPage,
  parseRevision,
  planList,
  scopeOf,
  tooNew,
} from './list.js';
import {
  type ListRequest,
  type ListResult,
  type ManagedResourceStore,
  type ResourceStoreOptions,
  StorageError,
  type StoredValueFault,
  type EncodedWriteOptions,
  type Watch,
  type WatchEvent,
  type WatchRequest,
} from './store.js';
import type { StorageMetrics, StoreOperation } from './metrics.js';
import type { Trace } from '../tracing/trace.js';
import { recordCreate, recordList } from './record.js';
import { Serial } from './serial.js';
import { SharedChanges } from './shared-changes.js';
import { faultOf, namesMore, unreadable, unreadableList } from './unreadable.js';
import { Values, type Written } from './values.js';
import { Watcher } from './watcher.js';

/** The most keys that one read requests from the store. */
const PAGE_LIMIT = 10_000;
/** The most keys requested at once when a selector discards most of a page. */
const MAX_GROWN_LIMIT = 10_000;
const BOOKMARK_CHECK_MS = 1_000;
/** The events of a trace when the store has answered. */
const CREATED = ['Txn call succeeded'];
const CHANGED = ['Txn call completed', 'Transaction committed'];

interface DirectStoreParts {
  readonly kv: KeyValueStore;
  readonly values: Values;
  readonly loader: HistoryLoader;
  readonly clock?: Clock;
  readonly metrics?: StorageMetrics | undefined;
}

/** An object to be stored. */
interface Put {
  readonly key: string;
  readonly object: KubeObject;
  /** 0: there must be none. */
  readonly expectedRevision: number;
  /** Hands the encoded value to the store; `full` is the key with its prefix. */
  readonly send: (full: string, value: Buffer) => Promise<WriteResult>;
}

/** Which part of a list is read from the store. */
interface PageRange {
  readonly start: string;
  /** 0: the newest. */
  readonly revision: number;
  /** 0: as many as a page may have. */
  readonly limit: number;
}

export class DirectStore implements ManagedResourceStore {
  readonly kv: KeyValueStore;
  readonly values: Values;
  readonly loader: HistoryLoader;
  readonly clock: Clock;
  readonly metrics: StorageMetrics;
  readonly options: ResourceStoreOptions;
  readonly #open = new Set<Watcher>();
  readonly #changes = new SharedChanges((event) => changeOf(event, this.values, this.clock.now()));
  #cancelTimer: (() => void) | undefined;

  constructor({ kv, values, loader, clock = systemClock, metrics = {} }: DirectStoreParts) {
    this.kv = kv;
    this.values = values;
    this.loader = loader;
    this.clock = clock;
    this.metrics = metrics;
    this.options = values.options;
  }

  async get(key: string, minRevision: string, trace?: Trace): Promise<Entry | undefined> {
    const wanted = parseRevision(minRevision);
    const kv = await this.#timed('get', this.kv.get(this.options.prefix + key, { trace }));
    if (wanted > 0 && (kv?.modRevision ?? 0) < wanted) {
      const current = await fromKv(this.kv.revision(trace));
      if (current < wanted) throw tooNew(wanted, current);
    }
    return kv && this.#entry(kv, trace);
  }

  getForUpdate(key: string, trace?: Trace): Promise<Entry | undefined> {
    return this.get(key, '', trace);
  }

  create(key: string, object: KubeObject, options: EncodedWriteOptions = {}): Promise<Entry> {
    const span = options.byUpdate ? undefined : recordCreate(options.trace, this.options, key);
    if (span === undefined) return this.#create(key, object, options);
    return this.#create(key, object, { ...options, trace: span }).finally(() => span.end());
  }

  #create(key: string, object: KubeObject, options: EncodedWriteOptions): Promise<Entry> {
    const send: Put['send'] = (full, value) => this.kv.create(full, value, options);
    return this.#put({ key, object, expectedRevision: 0, send }, options);
  }

  update(key: string, expectedRevision: number, object: KubeObject, options: EncodedWriteOptions = {}): Promise<Entry> {
    const { ttlSeconds, trace } = options;
    const given = { trace, ...(ttlSeconds !== undefined && { ttlSeconds }) };
    const send: Put['send'] = (full, value) => this.kv.update(full, expectedRevision, value, given);
    return this.#put({ key, object, expectedRevision, send }, options);
  }

  async delete(key: string, expectedRevision: number, trace?: Trace, known?: Entry): Promise<Entry> {
    const full = this.options.prefix + key;
    let previous = known?.revision === expectedRevision ? known : undefined;
    if (previous === undefined) {
      const kv = await this.#timed('get', this.kv.get(full, { trace }));
      if (kv === undefined) throw notFound(key);
      if (kv.modRevision !== expectedRevision) throw conflict(key, await this.#entry(kv));
      previous = await this.#entry(kv);
    }
    const result = await this.#timed('delete', this.kv.delete(full, expectedRevision, trace));
    if (result.done) return previous.deletedAt(result.revision);
    if (result.current === undefined) throw notFound(key);
    throw conflict(key, await this.#entry(result.current));
  }

  async isStale(key: string, revision: number, certain: boolean): Promise<boolean> {
    if (!this.values.mayBeStale && certain) return false;
    const kv = await this.#timed('get', this.kv.get(this.options.prefix + key));
    if (kv === undefined) throw notFound(key);
    if (kv.modRevision !== revision) throw conflict(key, await this.#entry(kv));
    return this.values.isStale(key, kv.value, revision);
  }

  async deleteUnreadable(key: string, dryRun: boolean): Promise<boolean> {
    const full = this.options.prefix + key;
    for (;;) {
      const revision = await this.#unreadableRevision(full);
      if (revision === undefined) return false;
      if (dryRun) return true;
      const result = await this.#timed('delete', this.kv.delete(full, revision));
      if (result.done) return true;
    }
  }

  /** Of what is there and cannot be read. */
  async #unreadableRevision(full: string): Promise<number | undefined> {
    let kv: KeyValue | undefined;
    try {
      kv = await this.#timed('get', this.kv.get(full));
    } catch (error) {
      const fault = faultOf(error);
      if (fault === undefined) throw error;
      return fault.revision;
    }
    try {
      // Stored JSON is parsed on demand, so this parses it.
      if (kv !== undefined) (await this.#entry(kv)).object();
      return undefined;
    } catch {
      return kv?.modRevision;
    }
  }

  async list(request: ListRequest): Promise<ListResult> {
    const span = recordList(request.trace, this.options, request);
    if (span === undefined) return this.#counted(request);
    return this.#counted({ ...request, trace: span }).finally(() => span.end());
  }

  async #counted(request: ListRequest): Promise<ListResult> {
    const counts = { fetched: 0, evaluated: 0 };
    const result = await this.#list(request, counts);
    this.metrics.listed?.(this.options.resource, counts.fetched, counts.evaluated, result.items.length);
    return result;
  }

  async #list(request: ListRequest, counts: { fetched: number; evaluated: number }): Promise<ListResult> {
    const plan = planList(this.options, request);
    const wanted = plan.freshness.kind === 'exact' ? plan.freshness.revision : 0;
    let revision = wanted;
    let start = plan.start;
    let limit = plan.limit;
    const items: Entry[] = [];
    const faults: StoredValueFault[] = [];
    for (;;) {
      const page = await this.#page(plan, { start, revision, limit }, request);
      if (plan.freshness.kind === 'not-older-than' && page.revision < plan.freshness.revision) {
        throw tooNew(plan.freshness.revision, page.revision);
      }
      if (revision === 0) revision = page.revision;
      counts.fetched += page.kvs.length;
      let last = '';
      let more = page.count > page.kvs.length;
      for (const kv of page.kvs) {
        if (plan.limit > 0 && items.length >= plan.limit) {
          more = true;
          break;
        }
        last = kv.key.slice(this.options.prefix.length);
        const entry = await this.#listed(kv, faults, request.trace);
        counts.evaluated++;
        if (entry !== undefined && this.#matches(plan, request, entry)) items.push(entry);
      }
      if (faults.length > 0 && (!more || !namesMore(this.options, faults.length))) {
        throw unreadableList(this.options, faults);
      }
      if (!more) return { items, revision, continue: '' };
      if (plan.limit > 0 && items.length >= plan.limit) {
        const unfiltered = request.predicate === undefined && plan.nameAnywhere === '';
        return {
          items,
          revision,
          continue: nextPage(plan, last, revision),
          ...(unfiltered ? { remainingItemCount: page.count - plan.limit } : {}),
        };
      }
      start = `${last}\0`;
      if (limit > 0) limit = Math.min(limit * 2, MAX_GROWN_LIMIT);
    }
  }

  /** A list goes on after what cannot be read where it is to name all of that. */
  async #listed(kv: KeyValue, faults: StoredValueFault[], trace?: Trace): Promise<Entry | undefined> {
    try {
      const entry = this.#entry(kv, trace);
      return entry instanceof Promise ? await entry : entry;
    } catch (error) {
      const fault = faultOf(error);
      if (fault === undefined) throw error;
      faults.push(fault);
      if (!namesMore(this.options, faults.length)) throw unreadableList(this.options, faults);
      return undefined;
    }
  }

  async watch(request: WatchRequest, receive: (events: readonly WatchEvent[]) => boolean): Promise<Watch> {
    const from = parseRevision(request.resourceVersion);
    const initial = request.sendInitialEvents ?? from === 0;
    const scope = scopeOf(this.options, request);
    const { prefix, single, nameAnywhere } = scope;
    let start = from;
    let state: readonly Entry[] = [];
    if (initial || from === 0) {
      const list = await this.list({
        ...request,
        resourceVersion: initial ? request.resourceVersion : '',
        resourceVersionMatch: initial && from > 0 ? 'NotOlderThan' : '',
        limit: initial ? 0 : 1,
        continue: '',
      });
      start = list.revision;
      state = initial ? (list.items as readonly Entry[]) : [];
    }
    const readNewest = (): Promise<number> => fromKv(this.kv.revision());
    const newest = this.kv.local ? await readNewest() : 0;
    const watcher = new Watcher({ request, receive, startRevision: start, clock: this.clock });
    this.#open.add(watcher);
    const full = this.options.prefix + prefix;
    const take = async (batch: readonly KvEvent[]): Promise<void> => {
      this.metrics.received?.(this.options.resource, batch.length);
      const changes: Change[] = [];
      const yielder = new Yielder();
      for (const event of batch) {
        await yielder.yieldIfDue();
        const wanted = (!single || event.key === full) && event.key.endsWith(nameAnywhere && `/${nameAnywhere}`);
        if (wanted && !watcher.over) changes.push(await this.#changes.get(event));
      }
      watcher.take(changes);
    };
    // A local store does not wait for us, so what it hands over queues here.
    const queue = new Serial();
    const inOrder = (task: () => void | Promise<void>): void | Promise<void> =>
      queue.run(async () => {
        try {
          await task();
        } catch (error) {
          watcher.end(
            error instanceof StorageError ? error : unreadable(this.options, { key: prefix, revision: start }, error),
          );
        }
      });
    const watchAfter = (revision: number): void => {
      const kvWatch = this.kv.watch(
        { prefix: full, startRevision: revision + 1, previous: true },
        {
          events: (batch) => inOrder(() => take(batch)),
          progress: (reached) => void inOrder(() => watcher.bookmark(reached)),
          failed: (error) => watcher.end(watchError(error)),
        },
      );
      void watcher.ended.then(() => kvWatch.cancel());
    };
    void watcher.ended.then(() => {
      this.#open.delete(watcher);
      if (this.#open.size === 0) this.#changes.clear();
    });
    const { loader } = this;
    watcher.start(state, start, new MissedInStore({ loader, watcher, scope, newest, readNewest, watchAfter }));
    if (request.allowBookmarks) this.#checkBookmarks();
    return watcher;
  }

  async count(): Promise<number> {
    const { prefix } = this.options;
    const counted = this.kv.range({ start: prefix, end: prefixEnd(prefix), countOnly: true });
    return (await this.#timed('listWithCount', counted)).count;
  }

  async ready(): Promise<void> {}

  close(): void {
    for (const watcher of this.#open) watcher.end(undefined);
    this.#cancelTimer?.();
  }

  /** Polls the store's revision while a watch waits for a bookmark. */
  #checkBookmarks(): void {
    this.#cancelTimer ??= this.clock.after(BOOKMARK_CHECK_MS, () => {
      this.#cancelTimer = undefined;
      const now = this.clock.now();
      const waiting = [...this.#open].filter(({ request }) => request.allowBookmarks);
      if (waiting.some((watcher) => watcher.bookmarkDue(now))) this.kv.requestProgress();
      if (waiting.length > 0) this.#checkBookmarks();
    });
  }

  // hot: every write
  async #put({ key, object, expectedRevision, send }: Put, options: EncodedWriteOptions): Promise<Entry> {
    const { trace, json, byUpdate = expectedRevision > 0 } = options;
    const span = trace?.span;
    span?.event('About to Encode');
    let written: Written;
    try {
      const begun = this.values.begin(key, object, json, trace);
      written = begun instanceof Promise ? await begun : begun;
    } catch (error) {
      span?.event('TransformToStorage failed', { err: errorText(error) });
      throw error;
    }
    span?.event('TransformToStorage succeeded');
    try {
      const operation = byUpdate ? 'update' : 'create';
      if (byUpdate) span?.event('Transaction prepared');
      let result: WriteResult;
      try {
        result = await this.#observed(operation, send(this.options.prefix + key, written.value));
      } catch (error) {
        span?.event('Txn call failed', { err: errorText(error) });
        throw error;
      }
      for (const event of byUpdate ? CHANGED : CREATED) span?.event(event);
      if (result.done) {
        span?.event('decode succeeded', { len: written.value.length });
        return this.values.answered(written, result.revision);
      }
      if (expectedRevision === 0) {
        throw new StorageError('key-exists', `${key} exists`, {
          current: result.current && (await this.#entryIfReadable(result.current)),
        });
      }
      if (result.current === undefined) throw notFound(key);
      throw conflict(key, await this.#entry(result.current));
    } catch (error) {
      throw storageError(error);
    } finally {
      this.values.end(written);
    }
  }

  #timed<T>(operation: StoreOperation, call: Promise<T>): Promise<T> {
    return fromKv(this.#observed(operation, call), this.options);
  }

  async #observed<T>(operation: StoreOperation, call: Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      const result = await call;
      this.#count(operation, began, false);
      return result;
    } catch (error) {
      this.#count(operation, began, true);
      throw error;
    }
  }

  #count(operation: StoreOperation, beganMs: number, failed: boolean): void {
    this.metrics.request?.(operation, this.options.resource, (performance.now() - beganMs) / 1000, failed);
  }

  async #page(plan: ListPlan, range: PageRange, request: ListRequest): Promise<RangeResult> {
    const { start, revision, limit } = range;
    const { prefix } = this.options;
    try {
      const page = this.kv.range({
        start: prefix + start,
        end: plan.end === '\uffff' ? prefixEnd(prefix) : prefix + plan.end,
        limit: limit === 0 ? PAGE_LIMIT : limit,
        ...(revision > 0 ? { revision } : {}),
        trace: request.trace,
      });
      return await this.#observed('list', page);
    } catch (error) {
      if (error instanceof KvError && error.code === 'compacted') {
        throw request.continue !== '' ? expiredContinue(plan, revision) : expiredList(revision);
      }
      if (error instanceof KvError && error.code === 'future-revision') {
        throw tooNew(revision, await fromKv(this.kv.revision()));
      }
      throw listError(error, this.options);
    }
  }

  #entry(kv: KeyValue, trace?: Trace): MaybePromise<Entry> {
    return this.values.entry(kv.key.slice(this.options.prefix.length), kv.value, kv.modRevision, trace);
  }

  /** Undefined for an unreadable value: a conflict is reported without it. */
  async #entryIfReadable(kv: KeyValue): Promise<Entry | undefined> {
    try {
      return await this.#entry(kv);
    } catch (error) {
      if (faultOf(error) !== undefined) return undefined;
      throw error;
    }
  }

  #matches(plan: ListPlan, request: ListRequest, entry: Entry): boolean {
    if (plan.nameAnywhere !== '' && !entry.key.endsWith(`/${plan.nameAnywhere}`)) return false;
    return request.predicate === undefined || request.predicate(entry);
  }
}

const notFound = (key: string): StorageError => new StorageError('not-found', `${key} not found`);

const conflict = (key: string, current: Entry): StorageError =>
  new StorageError('conflict', `${key} is at revision ${current.revision}`, { current });

function watchError(error: KvError): StorageError | undefined {
  if (error.code === 'closed') return undefined;
  if (error.code === 'compacted') return expiredWatch();
  const converted = storageError(error);
  return converted instanceof StorageError ? converted : new StorageError('unavailable', error.message);
}
