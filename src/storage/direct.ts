// One resource straight on the key-value store: every write goes here; reads too when the cache is off or cannot answer.
import type { KubeObject } from '../machinery/object.js';
import { type Clock, systemClock } from '../lib/async/clock.js';
import { errorText } from '../lib/text/error-text.js';
import type { KeyValue, KeyValueStore, WriteResult } from '../kv/kv.js';
import { prefixEnd } from '../kv/kv.js';
import { DirectLists } from './direct-lists.js';
import { DirectWatches } from './direct-watches.js';
import type { Entry } from './entry.js';
import { fromKv, storageError } from './errors.js';
import type { HistoryLoader } from './load-history.js';
import { parseRevision, tooNew } from './list.js';
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
import type { StorageMetrics } from './metrics.js';
import type { Trace } from '../tracing/trace.js';
import { recordCreate } from './record.js';
import { StoreCalls } from './store-calls.js';
import { faultOf } from './unreadable.js';
import type { Values, Written } from './values.js';

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

export class DirectStore implements ManagedResourceStore {
  readonly kv: KeyValueStore;
  readonly values: Values;
  readonly options: ResourceStoreOptions;
  readonly #calls: StoreCalls;
  readonly #lists: DirectLists;
  readonly #watches: DirectWatches;

  constructor({ kv, values, loader, clock = systemClock, metrics = {} }: DirectStoreParts) {
    this.kv = kv;
    this.values = values;
    this.options = values.options;
    this.#calls = new StoreCalls(kv, values, metrics);
    this.#lists = new DirectLists(this.#calls);
    this.#watches = new DirectWatches({ calls: this.#calls, loader, clock });
  }

  async get(key: string, minRevision: string, trace?: Trace): Promise<Entry | undefined> {
    const wanted = parseRevision(minRevision);
    const kv = await this.#calls.timed('get', this.kv.get(this.options.prefix + key, { trace }));
    if (wanted > 0 && (kv?.modRevision ?? 0) < wanted) {
      const current = await fromKv(this.kv.revision(trace));
      if (current < wanted) throw tooNew(wanted, current);
    }
    return kv && this.#calls.entry(kv, trace);
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
    const send: Put['send'] = (full, value) => this.kv.update(full, expectedRevision, value, options);
    return this.#put({ key, object, expectedRevision, send }, options);
  }

  async delete(key: string, expectedRevision: number, trace?: Trace, known?: Entry): Promise<Entry> {
    const full = this.options.prefix + key;
    let previous = known?.revision === expectedRevision ? known : undefined;
    if (previous === undefined) {
      const kv = await this.#calls.timed('get', this.kv.get(full, { trace }));
      if (kv === undefined) throw notFound(key);
      if (kv.modRevision !== expectedRevision) throw conflict(key, await this.#calls.entry(kv));
      previous = await this.#calls.entry(kv);
    }
    const result = await this.#calls.timed('delete', this.kv.delete(full, expectedRevision, trace));
    if (result.done) return previous.deletedAt(result.revision);
    if (result.current === undefined) throw notFound(key);
    throw conflict(key, await this.#calls.entry(result.current));
  }

  async isStale(key: string, revision: number, certain: boolean): Promise<boolean> {
    if (!this.values.mayBeStale && certain) return false;
    const kv = await this.#calls.timed('get', this.kv.get(this.options.prefix + key));
    if (kv === undefined) throw notFound(key);
    if (kv.modRevision !== revision) throw conflict(key, await this.#calls.entry(kv));
    return this.values.isStale(key, kv.value, revision);
  }

  async deleteUnreadable(key: string, dryRun: boolean): Promise<boolean> {
    const full = this.options.prefix + key;
    for (;;) {
      const revision = await this.#unreadableRevision(full);
      if (revision === undefined) return false;
      if (dryRun) return true;
      const result = await this.#calls.timed('delete', this.kv.delete(full, revision));
      if (result.done) return true;
    }
  }

  /** Of what is there and cannot be read. */
  async #unreadableRevision(full: string): Promise<number | undefined> {
    let kv: KeyValue | undefined;
    try {
      kv = await this.#calls.timed('get', this.kv.get(full));
    } catch (error) {
      const fault = faultOf(error);
      if (fault === undefined) throw error;
      return fault.revision;
    }
    try {
      // Stored JSON is parsed on demand, so this parses it.
      if (kv !== undefined) (await this.#calls.entry(kv)).object();
      return undefined;
    } catch {
      return kv?.modRevision;
    }
  }

  list(request: ListRequest): Promise<ListResult> {
    return this.#lists.list(request);
  }

  watch(request: WatchRequest, receive: (events: readonly WatchEvent[]) => boolean): Promise<Watch> {
    return this.#watches.watch(request, receive);
  }

  async count(): Promise<number> {
    const { prefix } = this.options;
    const counted = this.kv.range({ start: prefix, end: prefixEnd(prefix), countOnly: true });
    return (await this.#calls.timed('listWithCount', counted)).count;
  }

  async ready(): Promise<void> {}

  close(): void {
    this.#watches.close();
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
      const beganMs = performance.now();
      let result: WriteResult;
      try {
        result = await send(this.options.prefix + key, written.value);
        this.#calls.count(operation, beganMs, false);
      } catch (error) {
        this.#calls.count(operation, beganMs, true);
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
      throw conflict(key, await this.#calls.entry(result.current));
    } catch (error) {
      throw storageError(error);
    } finally {
      this.values.end(written);
    }
  }

  /** Undefined for an unreadable value: a conflict is reported without it. */
  async #entryIfReadable(kv: KeyValue): Promise<Entry | undefined> {
    try {
      return await this.#calls.entry(kv);
    } catch (error) {
      if (faultOf(error) !== undefined) return undefined;
      throw error;
    }
  }
}

const notFound = (key: string): StorageError => new StorageError('not-found', `${key} not found`);

const conflict = (key: string, current: Entry): StorageError =>
  new StorageError('conflict', `${key} is at revision ${current.revision}`, { current });
