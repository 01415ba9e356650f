// What a watch has missed, from where it is: the cache's history, and before that the store's own.
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { Cache } from './cache.js';
import { inScope, type scopeOf } from './list.js';
import type { HistoryLoader, HistoryPage } from './load-history.js';
import { StorageError } from './store.js';
import type { Missed, Watcher } from './watcher.js';
import type { WatcherScope } from './watchers.js';

/** Changes in memory that are sent at once: they are joined, and each watcher has a copy until its client has read it. */
const MAX_CHUNK_CHANGES = 500;
const MAX_CHUNK_BYTES = 256 * 1024;

/** Reads the store's history for one watch, page after page. */
class Replay {
  #nextPage = 0;
  /** The revision up to which the pages so far reach. */
  #reached = -1;
  #done: (() => void) | undefined;

  constructor(
    private readonly loader: HistoryLoader,
    private readonly watcher: Watcher,
    private readonly scope: ReturnType<typeof scopeOf>,
  ) {}

  /** Fails with `too-old` where the store has dropped something of it. */
  async after(revision: number, endRevision: number): Promise<HistoryPage> {
    if (!this.loader.reachesBackTo(revision)) throw expiredWatch();
    if (this.#done === undefined) {
      this.#done = this.loader.budget.begin();
      void this.watcher.ended.then(() => this.end());
    }
    // Not where the last page ended, when the watch went on in memory meanwhile.
    if (revision !== this.#reached) this.#nextPage = this.loader.pageAfter(revision);
    try {
      const { changes, upTo } = await this.#load(revision, endRevision);
      this.#nextPage = upTo + 1;
      this.#reached = Math.max(revision, upTo);
      return { changes: inScope(changes, this.scope).filter((change) => change.revision > revision), upTo };
    } catch (error) {
      throw isTooOld(error) ? expiredWatch() : error;
    }
  }

  /** A page may begin before what is wanted, where the store has dropped something. */
  async #load(revision: number, endRevision: number): Promise<HistoryPage> {
    const { signal } = this.watcher.request;
    try {
      return await this.loader.page(this.#nextPage, endRevision, signal);
    } catch (error) {
      if (!isTooOld(error) || this.#nextPage > revision) throw error;
      return this.loader.page(revision + 1, endRevision, signal);
    }
  }

  end(): void {
    this.#done?.();
    this.#done = undefined;
  }
}

/** For a watch behind the cache, which joins the cache's others when it has caught up. */
export class MissedInCache implements Missed {
  readonly #replay: Replay;
  /** A page of the store's history. */
  #hasRead = false;

  constructor(
    private readonly cache: Cache,
    loader: HistoryLoader,
    private readonly watcher: Watcher,
    private readonly scope: WatcherScope,
  ) {
    this.#replay = new Replay(loader, watcher, scope);
  }

  joins(revision: number): boolean {
    const { history, watchers } = this.cache;
    if (revision < history.newest) return false;
    this.#replay.end();
    watchers.add(this.watcher, this.scope);
    return true;
  }

  next(revision: number): MaybePromise<HistoryPage> {
    const { history, metrics } = this.cache;
    if (revision < history.floor) return this.#fromStore(revision);
    const some = history.someAfter(revision, MAX_CHUNK_CHANGES, MAX_CHUNK_BYTES);
    const changes = inScope(some, this.scope);
    if (changes.length > 0) metrics.watchStarted?.(changes.length);
    return { changes, upTo: some[some.length - 1]?.revision ?? history.newest };
  }

  async #fromStore(revision: number): Promise<HistoryPage> {
    const { floor } = this.cache.history;
    try {
      const page = await this.#replay.after(revision, floor);
      this.#hasRead = true;
      return page;
    } catch (error) {
      if (!isTooOld(error)) throw error;
      // It fell behind while its client read, and ends as one that is too slow; when it resumes, it is too late. At its beginning that
      // is said at once: not every store knows before what it still has.
      this.watcher.end(this.#hasRead ? undefined : expiredWatch());
      return { changes: [], upTo: revision };
    }
  }
}

/**
 * For a watch straight from the store. One elsewhere has its own way to send what was missed; of one in this process the
 * past is read first, up to what was newest then, and the rest is what the store's own watch begins with.
 */
export class MissedInStore implements Missed {
  readonly #replay: Replay;
  /** Of a store in this process, once the initial state has been sent. */
  #newest: number | undefined;

  constructor(
    private readonly options: {
      readonly loader: HistoryLoader;
      readonly watcher: Watcher;
      readonly scope: ReturnType<typeof scopeOf>;
      /** The newest revision of a store in this process; absent for one elsewhere. */
      readonly readNewest: (() => Promise<number>) | undefined;
      /** Begins the store's own watch after a revision. */
      readonly watchAfter: (revision: number) => void;
    },
  ) {
    this.#replay = new Replay(options.loader, options.watcher, options.scope);
  }

  joins(revision: number): boolean {
    const { readNewest, watchAfter } = this.options;
    if (readNewest !== undefined && (this.#newest === undefined || revision < this.#newest)) return false;
    this.#replay.end();
    watchAfter(revision);
    return true;
  }

  async next(revision: number): Promise<HistoryPage> {
    const known = this.#newest;
    const page = known === undefined ? { changes: [], upTo: revision } : await this.#replay.after(revision, known);
    if (known === undefined || page.upTo >= known) this.#newest = await this.options.readNewest?.();
    return page;
  }
}

const isTooOld = (error: unknown): boolean => error instanceof StorageError && error.code === 'too-old';

export const expiredWatch = (): StorageError =>
  new StorageError('too-old', 'The resourceVersion for the provided watch is too old.');

export const tooOld = (requestedRevision: number, floor: number): StorageError =>
  new StorageError('too-old', `too old resource version: ${requestedRevision} (${floor})`, {
    requestedRevision,
    currentRevision: floor,
  });
