// Watches straight on the key-value store.
import type { Clock } from '../lib/async/clock.js';
import { Yielder } from '../lib/scheduling/yield.js';
import type { KvError, KvEvent } from '../kv/kv.js';
import { expiredWatch, MissedInStore } from './catch-up.js';
import type { DirectLists } from './direct-lists.js';
import type { Entry } from './entry.js';
import { fromKv, storageError } from './errors.js';
import type { Change } from './history.js';
import { parseRevision, scopeOf } from './list.js';
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
  readonly lists: DirectLists;
  readonly loader: HistoryLoader;
  readonly clock: Clock;
}

export class DirectWatches {
  readonly #calls: StoreCalls;
  readonly #lists: DirectLists;
  readonly #loader: HistoryLoader;
  readonly #clock: Clock;
  readonly #open = new Set<Watcher>();
  readonly #changes: SharedChanges;
  #cancelTimer: (() => void) | undefined;

  constructor({ calls, lists, loader, clock }: DirectWatchesParts) {
    this.#calls = calls;
    this.#lists = lists;
    this.#loader = loader;
    this.#clock = clock;
    this.#changes = new SharedChanges((event) => changeOf(event, calls.values, clock.now()));
  }

  async watch(request: WatchRequest, receive: (events: readonly WatchEvent[]) => boolean): Promise<Watch> {
    const from = parseRevision(request.resourceVersion);
    const initial = request.sendInitialEvents ?? from === 0;
    const scope = scopeOf(this.#calls.options, request);
    const { prefix, single, nameAnywhere } = scope;
    let start = from;
    let state: readonly Entry[] = [];
    if (initial || from === 0) {
      const list = await this.#lists.list({
        ...request,
        resourceVersion: initial ? request.resourceVersion : '',
        resourceVersionMatch: initial && from > 0 ? 'NotOlderThan' : '',
        limit: initial ? 0 : 1,
        continue: '',
      });
      start = list.revision;
      state = initial ? (list.items as readonly Entry[]) : [];
    }
    const readNewest = (): Promise<number> => fromKv(this.#calls.kv.revision());
    const newest = this.#calls.kv.local ? await readNewest() : 0;
    const watcher = new Watcher({ request, receive, startRevision: start, clock: this.#clock });
    this.#open.add(watcher);
    const full = this.#calls.options.prefix + prefix;
    const take = async (batch: readonly KvEvent[]): Promise<void> => {
      this.#calls.metrics.received?.(this.#calls.options.resource, batch.length);
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
            error instanceof StorageError
              ? error
              : unreadable(this.#calls.options, { key: prefix, revision: start }, error),
          );
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
    watcher.start(
      state,
      start,
      new MissedInStore({ loader: this.#loader, watcher, scope, newest, readNewest, watchAfter }),
    );
    if (request.allowBookmarks) this.#checkBookmarks();
    return watcher;
  }

  close(): void {
    for (const watcher of this.#open) watcher.end(undefined);
    this.#cancelTimer?.();
  }

  /** Polls the store's revision while a watch waits for a bookmark. */
  #checkBookmarks(): void {
    this.#cancelTimer ??= this.#clock.after(BOOKMARK_CHECK_MS, () => {
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
