// What a resource's watch cache answers at once, without waiting for the store.
import type { Cache } from './cache.js';
import type { CachedLists } from './cached-lists.js';
import type { Entry } from './entry.js';
import { planList } from './list.js';
import type { ListRequest, ListResult, LocalReads, ResourceStoreOptions } from './store.js';

/** Longer lists are not held on to. */
const MAX_KEPT_ITEMS = 64;
const WHOLE_LIST = { resourceVersion: '', resourceVersionMatch: '', limit: 0, continue: '' } as const;

export class CachedReads implements LocalReads {
  /** The last namespace that was listed, if it has few objects. */
  #lastList:
    | { readonly generation: number; readonly namespace: string; readonly items: ListResult['items'] }
    | undefined;

  constructor(
    private readonly cache: Cache,
    private readonly lists: CachedLists,
    private readonly options: ResourceStoreOptions,
  ) {}

  get isAuthoritative(): boolean {
    const { cache } = this;
    return cache.kv.local && cache.isSettled();
  }

  get isEmpty(): boolean {
    return this.isAuthoritative && this.cache.contents.size === 0;
  }

  get amount(): { readonly objects: number; readonly bytes: number } | undefined {
    return this.cache.filled ? { objects: this.cache.contents.size, bytes: this.cache.contents.bytes } : undefined;
  }

  // hot: every get of what is there
  getCached(key: string): Entry | undefined {
    const { kv, values, contents } = this.cache;
    return kv.local && this.cache.isSettled(key) && !values.decryptsEachRead ? contents.get(key) : undefined;
  }

  // hot: admission lists for every pod
  listCached(namespace: string): ListResult['items'] | undefined {
    return this.isAuthoritative ? this.#listAll(namespace) : undefined;
  }

  /** Only for a remote store, whose cache may be behind. */
  getMaybeStale(key: string): Entry | undefined {
    const { cache } = this;
    if (cache.kv.local || !cache.filled || cache.stalled) return undefined;
    const cached = cache.contents.get(key);
    const written = cache.values.unseen?.lastOf(key);
    return written === undefined || (cached !== undefined && cached.revision > written.revision) ? cached : written;
  }

  listMaybeStale(namespace: string): ListResult['items'] | undefined {
    const { cache } = this;
    const isBehindUs = cache.values.unseen?.isEmpty === false;
    return cache.kv.local || !cache.filled || cache.stalled || isBehindUs ? undefined : this.#listAll(namespace);
  }

  #listAll(namespace: string): ListResult['items'] | undefined {
    const { generation } = this.cache.contents;
    const last = this.#lastList;
    if (last?.generation === generation && last.namespace === namespace) return last.items;
    const request: ListRequest = { ...WHOLE_LIST, namespace };
    const listed = this.lists.current(planList(this.options, request), request, this.cache.revision);
    if (listed instanceof Promise) return undefined;
    const { items } = listed;
    this.#lastList = items.length > MAX_KEPT_ITEMS ? undefined : { generation, namespace, items };
    return items;
  }
}
