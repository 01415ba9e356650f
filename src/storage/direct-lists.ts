// Lists read from the key-value store, page by page.
import type { KeyValue, RangeResult } from '../kv/kv.js';
import { KvError, prefixEnd } from '../kv/kv.js';
import type { Trace } from '../tracing/trace.js';
import type { Entry } from './entry.js';
import { fromKv, listError } from './errors.js';
import { expiredContinue, expiredList, type ListPlan, nextPage, planList, tooNew } from './list.js';
import { recordList } from './record.js';
import type { ListRequest, ListResult, StoredValueFault } from './store.js';
import type { StoreCalls } from './store-calls.js';
import { faultOf, namesMore, unreadableList } from './unreadable.js';

/** The most keys that one read requests from the store. */
const PAGE_LIMIT = 10_000;
/** The most keys requested at once when a selector discards most of a page. */
const MAX_GROWN_LIMIT = 10_000;

/** Which part of a list is read from the store. */
interface PageRange {
  readonly start: string;
  /** 0: the newest. */
  readonly revision: number;
  /** 0: as many as a page may have. */
  readonly limit: number;
}

export class DirectLists {
  readonly #calls: StoreCalls;

  constructor(calls: StoreCalls) {
    this.#calls = calls;
  }

  async list(request: ListRequest): Promise<ListResult> {
    const span = recordList(request.trace, this.#calls.options, request);
    if (span === undefined) return this.#counted(request);
    return this.#counted({ ...request, trace: span }).finally(() => span.end());
  }

  async #counted(request: ListRequest): Promise<ListResult> {
    const counts = { fetched: 0, evaluated: 0 };
    const result = await this.#list(request, counts);
    this.#calls.metrics.listed?.(counts.fetched, counts.evaluated, result.items.length);
    return result;
  }

  async #list(request: ListRequest, counts: { fetched: number; evaluated: number }): Promise<ListResult> {
    const plan = planList(this.#calls.options, request);
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
        last = kv.key.slice(this.#calls.options.prefix.length);
        const entry = await this.#listed(kv, faults, request.trace);
        counts.evaluated++;
        if (entry !== undefined && this.#matches(plan, request, entry)) items.push(entry);
      }
      if (faults.length > 0 && (!more || !namesMore(this.#calls.options, faults.length))) {
        throw unreadableList(this.#calls.options, faults);
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
      const entry = this.#calls.entry(kv, trace);
      return entry instanceof Promise ? await entry : entry;
    } catch (error) {
      const fault = faultOf(error);
      if (fault === undefined) throw error;
      faults.push(fault);
      if (!namesMore(this.#calls.options, faults.length)) throw unreadableList(this.#calls.options, faults);
      return undefined;
    }
  }

  async #page(plan: ListPlan, range: PageRange, request: ListRequest): Promise<RangeResult> {
    const { start, revision, limit } = range;
    const { prefix } = this.#calls.options;
    try {
      const page = this.#calls.kv.range({
        start: prefix + start,
        end: plan.end === '\uffff' ? prefixEnd(prefix) : prefix + plan.end,
        limit: limit === 0 ? PAGE_LIMIT : limit,
        ...(revision > 0 ? { revision } : {}),
        trace: request.trace,
      });
      return await this.#calls.observed('list', page);
    } catch (error) {
      if (error instanceof KvError && error.code === 'compacted') {
        throw request.continue !== '' ? expiredContinue(plan, revision) : expiredList(revision);
      }
      if (error instanceof KvError && error.code === 'future-revision') {
        throw tooNew(revision, await fromKv(this.#calls.kv.revision()));
      }
      throw listError(error, this.#calls.options);
    }
  }

  #matches(plan: ListPlan, request: ListRequest, entry: Entry): boolean {
    if (plan.nameAnywhere !== '' && !entry.key.endsWith(`/${plan.nameAnywhere}`)) return false;
    return request.predicate === undefined || request.predicate(entry);
  }
}
