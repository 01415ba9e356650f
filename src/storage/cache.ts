// The watch cache: one resource's current state, kept by one watch of the store, answering reads and watches.
//
//   store ── range ──▶ state (tree + map) ◀── watch ── store
//                        │        │
//                     history   watchers
import type { Logger } from '../lib/telemetry/log.js';
import { Backoff } from '../lib/async/backoff.js';
import type { Clock } from '../lib/async/clock.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { withTimeout } from '../lib/async/with-timeout.js';
import type { KeyValueStore, KvError, KvEvent, KvWatch } from '../kv/kv.js';
import { Contents } from './contents.js';
import type { Entry } from './entry.js';
import { listError } from './errors.js';
import { Change, History, MAX_BYTES_BESIDE_STORE, settle } from './history.js';
import { tooNew } from './list.js';
import type { StorageMetrics } from './metrics.js';
import { readAll } from './read-all.js';
import { Serial } from './serial.js';
import { Snapshots, type State } from './snapshots.js';
import { StorageError, type StoredValueFault } from './store.js';
import { stillInitializing } from './unreadable.js';
import type { Trace } from '../tracing/trace.js';
import { recordRevision } from './record.js';
import type { Values } from './values.js';
import { Watchers } from './watchers.js';

/** How long a read waits for the cache to reach its revision. */
const FRESH_TIMEOUT_MS = 3_000;
/** How often progress is requested while a read waits. */
const PROGRESS_PERIOD_MS = 100;
/** How long a request waits for the cache to be filled. */
const READY_TIMEOUT_MS = 10_000;
const RETRIES = { firstMs: 100, maxMs: 5_000 };
/** So long a cache that met something unreadable answers what was there before; then nobody is to rely on it any more. */
const STALLED_MS = 30_000;

interface Waiter {
  readonly revision: number;
  readonly done: (reached: boolean) => void;
}

/** Something that cannot be read keeps the cache from going on. */
interface BlockingFault {
  readonly error: StorageError;
  readonly sinceMs: number;
}

interface CacheParts {
  readonly kv: KeyValueStore;
  readonly values: Values;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  readonly metrics?: StorageMetrics | undefined;
}

export class Cache {
  readonly kv: KeyValueStore;
  readonly values: Values;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  readonly metrics: StorageMetrics;
  contents: Contents;
  readonly watchers: Watchers;
  readonly #snapshots: Snapshots;
  /** A local store does not wait for its watches: asynchronous steps (decryption) keep their order here. */
  readonly #incoming = new Serial();
  #history = new History(0);
  #revision = 0;
  #loading: Promise<void> | undefined;
  #filled = false;
  #blockingFault: BlockingFault | undefined;
  #kvWatch: KvWatch | undefined;
  #waiters: Waiter[] = [];
  #closed = false;
  #stopProgress: (() => void) | undefined;
  #stopTrimming: (() => void) | undefined;

  constructor({ kv, values, clock, log, metrics = {} }: CacheParts) {
    this.kv = kv;
    this.values = values;
    this.clock = clock;
    this.log = log;
    this.metrics = metrics;
    this.contents = new Contents(values.options.indexedField);
    this.#snapshots = new Snapshots(clock);
    this.watchers = new Watchers(clock, async () => {
      if (kv.local && !this.stalled) await this.#catchUp();
      return this.#revision;
    });
  }

  get revision(): number {
    return this.#revision;
  }

  /** False until the first read, and while everything is read again. */
  get filled(): boolean {
    return this.#filled;
  }

  /** Filled, but with something unreadable between its state and the store's: it answers what was there before. */
  get stalled(): boolean {
    return this.#filled && this.#blockingFault !== undefined;
  }

  // hot: every get
  /** All events of a local store about what begins so are in the state: none is on its way or still being decrypted. */
  isSettled(key = ''): boolean {
    return (
      this.#filled &&
      this.#blockingFault === undefined &&
      this.#incoming.busy === undefined &&
      (this.kv.isBehind === undefined || !this.kv.isBehind(this.values.options.prefix + key))
    );
  }

  get history(): History {
    return this.#history;
  }

  /** Filled on first use; again after the store dropped what our watch needed. */
  async ready(): Promise<void> {
    if (this.#filled) return;
    if (this.#closed) throw new StorageError('unavailable', 'the storage is closed');
    if (this.#blockingFault !== undefined) throw this.#initializing(this.#blockingFault);
    this.#loading ??= this.#load();
    const onTimeout = (): never => {
      throw new StorageError('unavailable', 'storage is (re)initializing');
    };
    await withTimeout(this.#loading, { ms: READY_TIMEOUT_MS, clock: this.clock, onTimeout });
  }

  keepSnapshot(revision: number): void {
    if (revision === this.#revision) this.#snapshots.keep(revision, this.contents.state);
  }

  isCompacted(revision: number): boolean {
    return revision < this.kv.compactedRevision();
  }

  /** The state at a revision that the cache has reached, if it can still be reconstructed. */
  stateAt(revision: number): State | undefined {
    return this.#snapshots.at(revision, this.contents.state, this.#history);
  }

  /** Waits until the cache has seen everything up to this revision; fails with `too-new`. */
  async waitForRevision(revision: number, withinMs = FRESH_TIMEOUT_MS): Promise<void> {
    if (revision > this.#revision && this.kv.local) await this.#catchUp();
    if (revision <= this.#revision) return;
    if (this.stalled) throw tooNew(revision, this.#revision);
    const began = performance.now();
    let cancel = (): void => undefined;
    const reached = await new Promise<boolean>((resolve) => {
      const waiter: Waiter = { revision, done: resolve };
      this.#waiters.push(waiter);
      this.#requestProgress();
      cancel = this.clock.after(withinMs, () => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        resolve(false);
      });
    });
    cancel();
    this.metrics.waited?.((performance.now() - began) / 1000);
    if (!reached) throw tooNew(revision, this.#revision);
  }

  /** Waits until the cache has everything that was written before the call. */
  async waitForLatest(trace?: Trace, withinMs?: number): Promise<void> {
    if (this.kv.local) return this.#catchUp();
    const span = recordRevision(trace, this.values.options);
    const revision = await this.kv.revision(span ?? trace).finally(() => span?.end());
    if (revision <= this.#revision) return;
    if (this.#isUnchanged('', this.#revision, revision)) this.#advance(revision);
    else await this.waitForRevision(revision, withinMs);
  }

  // hot: every get from a store elsewhere. An async function would take several times the memory.
  /** The object as it is now, for a store elsewhere; fails with `too-new` where the cache does not catch up in time. */
  getLatest(key: string, withinMs: number): Promise<Entry | undefined> {
    return this.kv.revision().then((revision) => {
      if (revision <= this.#revision || this.#isUnchanged(key, this.#revision, revision)) return this.contents.get(key);
      const written = this.values.unseen?.lastOf(key);
      if (written !== undefined && this.#isUnchanged(key, written.revision, revision)) return written;
      return this.waitForRevision(revision, withinMs).then(() => this.contents.get(key));
    });
  }

  /** Whether the store knows that no key that begins so was written between two revisions. */
  #isUnchanged(key: string, after: number, upTo: number): boolean {
    return this.kv.isUnchanged?.(this.values.options.prefix + key, after, upTo) === true;
  }

  /** A local store's watch has been handed everything up to the store's revision. */
  async #catchUp(): Promise<void> {
    const revision = await this.kv.revision();
    await this.#incoming.busy;
    if (this.stalled && revision > this.#revision) throw tooNew(revision, this.#revision);
    this.#advance(revision);
  }

  close(): void {
    this.#closed = true;
    this.values.source.serve(undefined);
    this.#kvWatch?.cancel();
    this.#stopProgress?.();
    this.#stopTrimming?.();
    this.#snapshots.clear();
    this.watchers.endAll(undefined);
  }

  async #load(): Promise<void> {
    const backoff = new Backoff(RETRIES);
    for (;;) {
      try {
        const contents = new Contents(this.values.options.indexedField, this.contents);
        const revision = await readAll(this.kv, this.values, contents);
        this.#replace(contents, revision);
        return;
      } catch (error) {
        const failure = listError(error, this.values.options);
        if (failure instanceof StorageError && failure.details.fault !== undefined) throw this.#blocked(failure);
        // Compacted between two pages counts as passing, too.
        const passes = failure instanceof StorageError && ['unavailable', 'too-old'].includes(failure.code);
        if (this.#closed || !passes) {
          this.#loading = undefined;
          throw failure;
        }
        this.log?.info(`cannot read ${this.values.options.prefix} from the store, trying again: ${failure.message}`);
        await new Promise<void>((resolve) => this.clock.after(backoff.next(), resolve));
      }
    }
  }

  /** The cache goes on by itself once the object can be read, or is gone. */
  #blocked(error: StorageError): StorageError {
    this.#loading = undefined;
    const isNew = this.#blockingFault?.error.message !== error.message;
    this.#blockingFault = { error, sinceMs: this.#blockingFault?.sinceMs ?? this.clock.now() };
    const { fault } = error.details;
    if (isNew) this.log?.info(`cannot read ${this.values.options.prefix}${fault?.key ?? ''}: ${error.message}`);
    if (fault !== undefined) this.#goOnAfter(fault, new Backoff(RETRIES));
    return this.#initializing(this.#blockingFault);
  }

  #initializing({ error, sinceMs }: BlockingFault): StorageError {
    return stillInitializing(this.values.options, error, (this.clock.now() - sinceMs) / 1000);
  }

  /** For who may have mended what the cache waits for. */
  async lookAgain(): Promise<void> {
    const fault = this.#blockingFault?.error.details.fault;
    if (fault === undefined || (await this.#isStillUnreadable(fault))) return;
    this.#reload();
    await this.#loading?.catch(() => undefined);
  }

  /** Only the one object is looked at until it is mended: everything else was read already, for nothing. */
  #goOnAfter(fault: StoredValueFault, backoff: Backoff): void {
    const isOver = (): boolean => this.#closed || this.#blockingFault?.error.details.fault !== fault;
    this.clock.after(backoff.next(), () => {
      if (isOver()) return;
      void this.#isStillUnreadable(fault).then((still) => {
        if (isOver()) return;
        if (still) this.#goOnAfter(fault, backoff);
        else this.#reload();
      });
    });
  }

  async #isStillUnreadable({ key }: StoredValueFault): Promise<boolean> {
    try {
      const kv = await this.kv.get(this.values.options.prefix + key);
      if (kv !== undefined) (await this.values.entry(key, kv.value, kv.modRevision)).object();
      return false;
    } catch {
      return true;
    }
  }

  #reload(): void {
    this.#loading ??= this.#load();
    // Reads that await the load get the error, and the load has logged it.
    this.#loading.catch(() => undefined);
  }

  #replace(contents: Contents, revision: number): void {
    // What happened while the cache was stalled is not known event by event: watchers come back to relist.
    if (this.#filled) this.watchers.endAll(undefined);
    this.#blockingFault = undefined;
    this.contents = this.values.source.serve(contents);
    this.#snapshots.clear();
    this.#history = new History(revision, this.kv.local ? MAX_BYTES_BESIDE_STORE : undefined);
    this.#revision = revision;
    this.#filled = true;
    this.metrics.filled?.();
    this.#kvWatch = this.kv.watch(
      // `previous` carries the replaced bytes, which an entry without bytes in memory pins again.
      {
        prefix: this.values.options.prefix,
        startRevision: revision + 1,
        previous: this.values.source.stored !== undefined,
      },
      {
        events: (batch) => this.#incoming.run(() => this.#takeOrStall(batch)),
        progress: (reached) => void this.#incoming.run(() => (this.stalled ? undefined : this.#progressed(reached))),
        failed: (error) => this.#lost(error),
      },
    );
    this.#wake();
  }

  /** The store no longer has what our watch needs: everything starts over, and watchers come back to relist. */
  #lost(error: KvError): void {
    this.#kvWatch = undefined;
    this.#loading = undefined;
    this.#filled = false;
    this.watchers.endAll(undefined);
    if (this.#closed || error.code === 'closed') return;
    this.log?.info(`the watch of ${this.values.options.prefix} ended, reading again: ${error.message}`);
    this.#reload();
  }

  /** An object that cannot be read stops the cache where it is. */
  #takeOrStall(batch: readonly KvEvent[]): void | Promise<void> {
    if (this.stalled) return;
    try {
      return this.#take(batch)?.catch((error: unknown) => this.#stall(error));
    } catch (error) {
      this.#stall(error);
    }
  }

  #stall(error: unknown): void {
    this.#kvWatch?.cancel();
    this.#kvWatch = undefined;
    if (!(error instanceof StorageError) || error.details.fault === undefined) throw error;
    this.#blocked(error);
    const { fault } = error.details;
    this.clock.after(STALLED_MS, () => {
      if (!this.#closed && this.#filled && this.#blockingFault?.error.details.fault === fault) this.#empty();
    });
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.done(false);
  }

  /** Reads fail with the blocking fault until it is repaired. */
  #empty(): void {
    if (this.#blockingFault !== undefined) this.#blockingFault = { ...this.#blockingFault, sinceMs: this.clock.now() };
    this.#filled = false;
    this.watchers.endAll(undefined);
  }

  // hot: every commit
  #take(batch: readonly KvEvent[]): void | Promise<void> {
    const entries: (Entry | undefined)[] = [];
    for (const event of batch) {
      const entry = this.#entryOf(event);
      if (entry instanceof Promise) return this.#takeSlowly(batch, entries, entry);
      entries.push(entry);
    }
    this.#apply(batch, entries);
  }

  /** Sequential: the key that the first value requests from a KMS plugin is mostly cached for the others. */
  async #takeSlowly(batch: readonly KvEvent[], entries: (Entry | undefined)[], next: Promise<Entry>): Promise<void> {
    entries.push(await next);
    for (const event of batch.slice(entries.length)) {
      const entry = this.#entryOf(event);
      entries.push(entry instanceof Promise ? await entry : entry);
    }
    this.#apply(batch, entries);
  }

  #entryOf({ type, key, value, revision }: KvEvent): MaybePromise<Entry> | undefined {
    if (type === 'delete') return undefined;
    return this.values.entryOfEvent(key.slice(this.values.options.prefix.length), value, revision);
  }

  #apply(batch: readonly KvEvent[], entries: readonly (Entry | undefined)[]): void {
    const { prefix } = this.values.options;
    const now = this.clock.now();
    const changes: Change[] = [];
    for (const [index, event] of batch.entries()) {
      const entry = entries[index];
      const key = entry?.key ?? event.key.slice(prefix.length);
      const previous = this.contents.get(key);
      if (entry === undefined && previous === undefined) continue;
      previous?.pinBytes(event.previous?.value);
      const change = new Change({ key, revision: event.revision, entry, previous, atMs: now });
      changes.push(change);
      this.#history.push(change);
      this.contents.apply(change);
      if (previous !== undefined) this.#snapshots.replaced(previous.size);
    }
    const last = batch[batch.length - 1];
    if (last !== undefined && last.revision > this.#revision) this.#revision = last.revision;
    this.metrics.cacheReceived?.(batch.length);
    this.metrics.reached?.(this.#revision);
    if (changes.length > 0) {
      this.watchers.dispatch(changes);
      for (const change of changes) change.forgetEvents();
      // Not at once: the writers are about to be answered, perhaps in another form than the bytes.
      setImmediate(settle, changes);
      if (this.#stopTrimming === undefined) this.#trim();
    }
    this.#wake();
  }

  /** Also when nothing happens any more, what happened grows old. */
  #trim(): void {
    const againMs = this.#history.trim(this.clock.now());
    this.#stopTrimming = againMs === undefined ? undefined : this.clock.after(againMs, () => this.#trim());
  }

  /** A read that still waits began after the request that this progress answers, so progress is requested again. */
  #progressed(revision: number): void {
    const isNews = revision > this.#revision;
    this.#advance(revision);
    if (!isNews || this.#waiters.length === 0) return;
    this.#stopProgress?.();
    this.#stopProgress = undefined;
    this.#requestProgress();
  }

  #advance(revision: number): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    this.#wake();
  }

  #wake(): void {
    if (this.#waiters.length === 0) return;
    const ready = this.#waiters.filter((waiter) => waiter.revision <= this.#revision);
    if (ready.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > this.#revision);
    for (const waiter of ready) waiter.done(true);
  }

  #requestProgress(): void {
    if (this.#stopProgress !== undefined || this.#waiters.length === 0 || this.#closed) return;
    this.kv.requestProgress();
    this.#stopProgress = this.clock.after(PROGRESS_PERIOD_MS, () => {
      this.#stopProgress = undefined;
      this.#requestProgress();
    });
  }
}
