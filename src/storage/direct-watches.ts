// Watches straight on the key-value store.
import { afterPeriod, type Clock } from '../lib/async/clock.js';
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import type { KvError, KvEvent } from '../kv/kv.js';
import { expiredWatch, MissedInStore } from './catch-up.js';
import { fromKv, storageError } from './errors.js';
import { InitialPages } from './initial-pages.js';
import { parseRevision, scopeOf, tooNew } from './list.js';
import { changeOf, type HistoryLoader } from './load-history.js';
import { Serial } from './serial.js';
import { SharedChanges } from './shared-changes.js';
import { StorageError, type Watch, type WatchEvent, type WatchRequest } from './store.js';
import type { StoreCalls } from './store-calls.js';
import { unreadable } from './unreadable.js';
import { Watcher } from './watcher.js';

const BOOKMARK_CHECK_MS = 1_000;

interface DirectWatchesParts {
  readonly calls: StoreCalls;
  readonly loader: HistoryLoader;
  readonly clock: Clock;
}

export class DirectWatches {
  readonly #calls: StoreCalls;
  readonly #loader: HistoryLoader;
  readonly #clock: Clock;
  readonly #open = new Set<Watcher>();
  readonly #changes: SharedChanges;
  readonly #initial: InitialPages;
  #cancelTimer: (() => void) | undefined;

  constructor({ calls, loader, clock }: DirectWatchesParts) {
    this.#calls = calls;
    this.#initial = new InitialPages(calls);
    this.#loader = loader;
    this.#clock = clock;
    this.#changes = new SharedChanges((event) => changeOf(event, calls.values, clock.now()));
  }

  async watch(request: WatchRequest, receive: (events: readonly WatchEvent[]) => boolean): Promise<Watch> {
    const from = parseRevision(request.resourceVersion);
    const initial = request.sendInitialEvents ?? from === 0;
    const start = initial || from === 0 ? await this.#newest(request, from) : from;
    const scope = scopeOf(this.#calls.options, request);
    const { prefix, single, nameAnywhere } = scope;
    const watcher = new Watcher({ request, receive, startRevision: start, clock: this.#clock });
    if (watcher.over) return watcher;
    this.#open.add(watcher);
    const full = this.#calls.options.prefix + prefix;
    const isWanted = ({ key }: KvEvent): boolean =>
      (!single || key === full) && key.endsWith(nameAnywhere && `/${nameAnywhere}`);
    const take = (batch: readonly KvEvent[]): MaybePromise<void> => {
      this.#calls.metrics.received?.(batch.length);
      if (watcher.over) return;
      return whenReady(this.#changes.of(batch.filter(isWanted)), (changes) => watcher.take(changes));
    };
    const failed = (error: unknown): void =>
      watcher.end(
        error instanceof StorageError
          ? error
          : unreadable(this.#calls.options, { key: prefix, revision: start }, error),
      );
    // A local store does not wait for us, so what it hands over queues here.
    const queue = new Serial();
    const inOrder = (task: () => MaybePromise<void>): MaybePromise<void> =>
      queue.run(() => {
        try {
          const running = task();
          return running instanceof Promise ? running.catch(failed) : running;
        } catch (error) {
          failed(error);
        }
      });
    const watchAfter = (revision: number): void => {
      const kvWatch = this.#calls.kv.watch(
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
    const readNewest = this.#calls.kv.local ? () => fromKv(this.#calls.kv.revision()) : undefined;
    const missed = new MissedInStore({ loader: this.#loader, watcher, scope, readNewest, watchAfter });
    watcher.start(initial ? this.#initial.of(watcher, start) : [], start, missed);
    if (request.allowBookmarks) this.#checkBookmarks();
    return watcher;
  }

  /** The revision of the initial state, or where there is none, of what a watch goes on from. */
  async #newest({ sendInitialEvents }: WatchRequest, from: number): Promise<number> {
    const { kv, metrics } = this.#calls;
    // To kube-apiserver this is a list of nothing, and for other watches no question of its own.
    const isCounted = sendInitialEvents === from > 0;
    const newest = await (isCounted ? this.#calls.timed('get', kv.revision()) : fromKv(kv.revision()));
    if (isCounted) metrics.listed?.(0, 0, 0);
    if (from > newest) throw tooNew(from, newest);
    return newest;
  }

  close(): void {
    for (const watcher of this.#open) watcher.end(undefined);
    this.#cancelTimer?.();
  }

  /** Polls the store's revision while a watch waits for a bookmark. */
  #checkBookmarks(): void {
    this.#cancelTimer ??= afterPeriod(this.#clock, BOOKMARK_CHECK_MS, () => {
      this.#cancelTimer = undefined;
      const now = this.#clock.now();
      const waiting = [...this.#open].filter(({ request }) => request.allowBookmarks);
      if (waiting.some((watcher) => watcher.bookmarkDue(now))) this.#calls.kv.requestProgress();
      if (waiting.length > 0) this.#checkBookmarks();
    });
  }
}

function watchError(error: KvError): StorageError | undefined {
  if (error.code === 'closed') return undefined;
  if (error.code === 'compacted') return expiredWatch();
  const converted = storageError(error);
  return converted instanceof StorageError ? converted : new StorageError('unavailable', error.message);
}
