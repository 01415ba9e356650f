// Lists from a resource's watch cache. Clients that lost their server come back all at once, with the same lists and
// pages: while nothing has changed they share one array of items, and by it what was encoded from it.
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { BoundedMap } from '../lib/values/bounded-map.js';
import type { Span } from '../tracing/trace.js';
import type { Cache } from './cache.js';
import type { Found } from './contents.js';
import type { Entry } from './entry.js';
import {
  listCooperatively,
  listFound,
  listFoundCooperatively,
  listFrom,
  type ListPlan,
  nextCachedPage,
  planList,
} from './list.js';
import type { State } from './snapshots.js';
import type { ListRequest, ListResult, ResourceStoreOptions, WatchRequest } from './store.js';

const MAX_SHARED_LISTS = 64;
/** Lists by longer selectors are not shared: their texts would be kept. */
const MAX_SHARED_SELECTOR_LENGTH = 1024;
/** Beyond this many objects a list yields to the event loop while it evaluates its predicate. */
const MANY = 1024;

/** How many objects were looked at for a list, by which index. */
interface Examined {
  /** The index that found them; empty without one. */
  readonly index: string;
  readonly objects: number;
}

interface SharedList {
  /** Of the state the items are from. */
  readonly generation: number;
  /** Weakly: they go when nobody is being answered with them. */
  readonly items: WeakRef<ListResult['items']>;
  readonly isLast: boolean;
  /** Absent on the last page, and where it is not counted. */
  readonly remainingItemCount: number | undefined;
}

export class CachedLists {
  /** By their range, limit and selector. */
  readonly #shared = new BoundedMap<string, SharedList>(MAX_SHARED_LISTS);
  /** By the items of a list. */
  readonly #examined = new WeakMap<ListResult['items'], Examined>();

  constructor(
    private readonly cache: Cache,
    private readonly options: ResourceStoreOptions,
  ) {}

  /** Lists the current state, which is that of `revision`. */
  current(plan: ListPlan, request: ListRequest, revision: number): MaybePromise<ListResult> {
    const key = sharedBy(plan, request);
    if (key === undefined) return this.#select(plan, request, revision);
    const { generation } = this.cache.contents;
    const known = this.#shared.get(key);
    const items = known?.generation === generation ? known.items.deref() : undefined;
    if (known !== undefined && items !== undefined) return sharedResult(known, items, plan, revision);
    const listed = this.#select(plan, request, revision);
    const isRepeated = known !== undefined;
    if (listed instanceof Promise) return listed.then((result) => this.#share(key, generation, result, isRepeated));
    return this.#share(key, generation, listed, isRepeated);
  }

  /** Lists a past state, which is not changed any more. */
  async past(state: State, plan: ListPlan, request: ListRequest, revision: number): Promise<ListResult> {
    const list = request.predicate === undefined || state.size <= MANY ? listFrom : listCooperatively;
    const result = await list(state, plan, request, revision);
    this.#examined.set(result.items, { index: '', objects: state.forRange(plan.start, plan.end, false) });
    return result;
  }

  /** What may concern a watch: it evaluates its predicate on each as it sends them. */
  candidates(request: WatchRequest): readonly Entry[] {
    const { contents, revision } = this.cache;
    const whole = { ...request, predicate: undefined, limit: 0, continue: '' };
    const plan = planList(this.options, { ...whole, resourceVersion: '0', resourceVersionMatch: '' });
    const found = contents.candidates(plan, request);
    const { items } =
      found === undefined
        ? listFrom(contents.state, plan, whole, revision)
        : listFound(found.entries, plan, whole, revision);
    return items as readonly Entry[];
  }

  /** Counts the objects that were looked at for a list, and notes them in its span. */
  record({ items }: ListResult, span: Span | undefined): void {
    const { index, objects } = this.#examined.get(items) ?? { index: '', objects: items.length };
    this.cache.metrics.cacheListed?.(index, objects, items.length);
    if (span === undefined) return;
    span.event('Listed items from cache', { count: objects });
    if (items.length > 0) span.event('Resized result');
    span.event('Filtered items', { count: items.length });
  }

  #share(key: string, generation: number, result: ListResult, isRepeated: boolean): ListResult {
    const { items, remainingItemCount } = result;
    const isLast = result.continue === '';
    this.#shared.set(key, { generation, items: new WeakRef(items), isLast, remainingItemCount });
    return isRepeated ? { ...result, isRepeated } : result;
  }

  #select(plan: ListPlan, request: ListRequest, revision: number): MaybePromise<ListResult> {
    const found = this.cache.contents.candidates(plan, request);
    const listed = this.#listAmong(found?.entries, plan, request, revision);
    const examined = this.#examinedFor(found, plan);
    if (!(listed instanceof Promise)) {
      this.#examined.set(listed.items, examined);
      return listed;
    }
    return listed.then((result) => {
      this.#examined.set(result.items, examined);
      return result;
    });
  }

  #examinedFor(found: Found | undefined, { start, end }: ListPlan): Examined {
    if (found !== undefined) {
      let objects = 0;
      for (const { key } of found.entries) if (key >= start && key < end) objects++;
      return { index: found.index, objects };
    }
    const { contents } = this.cache;
    return { index: '', objects: start === '' ? contents.size : contents.state.forRange(start, end, false) };
  }

  #listAmong(
    found: readonly Entry[] | undefined,
    plan: ListPlan,
    request: ListRequest,
    revision: number,
  ): MaybePromise<ListResult> {
    const { contents } = this.cache;
    if (found !== undefined) {
      const list = found.length > MANY ? listFoundCooperatively : listFound;
      return list(found, plan, request, revision);
    }
    const evaluatesEach = request.predicate !== undefined || plan.nameAnywhere !== '';
    if (!evaluatesEach || contents.size <= MANY) return listFrom(contents.state, plan, request, revision);
    return listCooperatively(contents.state.clone(), plan, request, revision);
  }
}

/** What lists of the same objects have in common; undefined for one that is not shared. */
function sharedBy({ start, end, limit, nameAnywhere }: ListPlan, request: ListRequest): string | undefined {
  const selector = request.predicate === undefined ? '' : request.selector;
  if (nameAnywhere !== '' || selector === undefined || selector.length > MAX_SHARED_SELECTOR_LENGTH) return undefined;
  return `${start}\0${end}\0${limit}\0${selector}`;
}

function sharedResult(
  { isLast, remainingItemCount }: SharedList,
  items: ListResult['items'],
  plan: ListPlan,
  revision: number,
): ListResult {
  if (isLast) return { items, revision, continue: '' };
  const next = nextCachedPage(plan, items[items.length - 1]?.key ?? '', revision);
  return { items, revision, continue: next, ...(remainingItemCount !== undefined && { remainingItemCount }) };
}
