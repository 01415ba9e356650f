// Begins a watch on a resource's watch cache: at which revision, with which initial events, in which of its ranges.
import type { Cache } from './cache.js';
import type { CachedLists } from './cached-lists.js';
import { MissedInCache, tooOld } from './catch-up.js';
import { fromKv } from './errors.js';
import { scopeOf } from './list.js';
import type { HistoryLoader } from './load-history.js';
import { type ResourceStoreOptions, StorageError, type Watch, type WatchEvent, type WatchRequest } from './store.js';
import { Watcher } from './watcher.js';
import type { WatcherScope } from './watchers.js';

export interface WatchSource {
  readonly cache: Cache;
  readonly lists: CachedLists;
  readonly loader: HistoryLoader;
  readonly options: ResourceStoreOptions;
}

export interface WantedWatch {
  readonly request: WatchRequest;
  /** The revision that the request names; 0 for none. */
  readonly from: number;
  readonly receive: (events: readonly WatchEvent[]) => boolean;
}

/** The cache must be filled. */
export async function startWatch(
  { cache, lists, loader, options }: WatchSource,
  { request, from, receive }: WantedWatch,
): Promise<Watch> {
  try {
    await waitForRevision(cache, request, from);
  } catch (error) {
    if (error instanceof StorageError) return { ended: Promise.resolve(error) };
    throw error;
  }
  const initial = request.sendInitialEvents ?? from === 0;
  const start = initial || from === 0 ? cache.revision : from;
  const { floor } = cache.history;
  if (start < floor && !loader.reachesBackTo(start)) return { ended: Promise.resolve(tooOld(start, floor)) };
  const scope = { ...scopeOf(options, request), ...indexedIn(options, request) };
  const watcher = new Watcher({ request, receive, startRevision: start, clock: cache.clock });
  if (watcher.over) return watcher;
  cache.watchers.expect(watcher);
  const entries = initial ? lists.candidates(request) : [];
  if (entries.length > 0) cache.metrics.watchStarted?.(entries.length);
  watcher.start(entries, start, new MissedInCache(cache, loader, watcher, scope));
  return watcher;
}

async function waitForRevision(cache: Cache, request: WatchRequest, from: number): Promise<void> {
  if (request.sendInitialEvents === true && from > 0) await cache.waitForRevision(from);
  else if (request.sendInitialEvents !== undefined && request.resourceVersion === '')
    await fromKv(cache.waitForLatest());
  else if (cache.kv.local && !cache.stalled) await cache.waitForLatest();
}

function indexedIn(
  { indexedField }: ResourceStoreOptions,
  { fieldValues }: WatchRequest,
): Pick<WatcherScope, 'indexed'> {
  const indexed = indexedField && fieldValues?.find(({ field }) => field === indexedField)?.value;
  return indexed === undefined || indexed === '' ? {} : { indexed };
}
