// The initial state of watches straight from the store: all of one revision, read page by page at each client's speed.
// Watches that begin together are at the same revision and read the same pages (shared-pages.ts), so that an object is
// decoded once for all, and its event encoded once for each form.
//
//   the state at revision 7   ├─page─┼─page─┼─page─┼─page─┤  changes after 7 ─▶
//   three watches                          ▲ ────▶
//   a slow one                  ▲ ────▶                      each holds one page at most
import { Yielder } from '../lib/scheduling/yield.js';
import { KvError, prefixEnd, type RangeResult } from '../kv/kv.js';
import { storageError } from './errors.js';
import { HistoryBudget } from './history-budget.js';
import { expiredContinue, type ListPlan, planList, scopeOf } from './list.js';
import { SharedPages } from './shared-pages.js';
import type { WatchEvent } from './store.js';
import type { StoreCalls } from './store-calls.js';
import { INITIAL_CHUNK_BYTES, type StateInChunks, type Watcher } from './watcher.js';

const PAGE_KEYS = 200;
/** Of the pages that stay for those who read a little behind the first; more than a few would be as large as the state. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;
/** The estimated memory of an object beside its JSON. */
const OBJECT_BYTES = 400;

interface Page {
  /** In the order of their keys; held as events, for encodings hang on them. */
  readonly chunks: readonly (readonly WatchEvent[])[];
  readonly bytes: number;
  /** Where the next page begins, if there is one. */
  readonly next: string | undefined;
}

export class InitialPages {
  readonly #budget = new HistoryBudget(MAX_KEPT_BYTES);
  readonly #pages = new SharedPages<Page>(this.#budget, ({ bytes }) => bytes);

  constructor(private readonly calls: StoreCalls) {}

  /** What a watch wants of the state at a revision. */
  of({ request, ended }: Watcher, revision: number): StateInChunks {
    const { options } = this.calls;
    const plan = planList(options, {
      ...request,
      resourceVersion: '',
      resourceVersionMatch: '',
      limit: 0,
      continue: '',
    });
    const { single } = scopeOf(options, request);
    const { signal } = request;
    const page = (start: string): Promise<Page> =>
      this.#pages.get(
        `${revision} ${plan.end} ${start}`,
        () => this.#read({ ...plan, start }, revision, single ? 'get' : 'list'),
        signal,
      );
    const done = this.#budget.begin();
    void ended.then(done);
    return new InitialState(plan, page, done);
  }

  async #read(plan: ListPlan, revision: number, operation: 'get' | 'list'): Promise<Page> {
    const { kvs, count } = await this.#range(plan, revision, operation);
    const { prefix } = this.calls.options;
    const chunks: WatchEvent[][] = [];
    const yielder = new Yielder();
    let bytes = 0;
    let room = 0;
    for (const kv of kvs) {
      await yielder.yieldIfDue();
      const entry = await this.calls.entry(kv);
      if (room <= 0) {
        chunks.push([]);
        room = INITIAL_CHUNK_BYTES;
      }
      chunks[chunks.length - 1]?.push(entry.added);
      room -= entry.size;
      bytes += OBJECT_BYTES + 2 * entry.size;
    }
    const last = kvs[kvs.length - 1];
    const next = last === undefined || count <= kvs.length ? undefined : `${last.key.slice(prefix.length)}\0`;
    return { chunks, bytes, next };
  }

  async #range(plan: ListPlan, revision: number, operation: 'get' | 'list'): Promise<RangeResult> {
    const { kv, options } = this.calls;
    const start = options.prefix + plan.start;
    const end = plan.end === '\uffff' ? prefixEnd(options.prefix) : options.prefix + plan.end;
    try {
      return await this.calls.observed(operation, kv.range({ start, end, revision, limit: PAGE_KEYS }));
    } catch (error) {
      if (error instanceof KvError && error.code === 'compacted') throw expiredContinue(plan, revision);
      throw storageError(error, options);
    }
  }
}

/** Where one watch is in its initial state. */
class InitialState implements StateInChunks {
  #chunks: (readonly WatchEvent[])[] = [];
  #next: string | undefined;

  constructor(
    private readonly plan: ListPlan,
    private readonly page: (start: string) => Promise<Page>,
    private readonly done: () => void,
  ) {
    this.#next = plan.start;
  }

  async next(): Promise<readonly WatchEvent[] | undefined> {
    while (this.#chunks.length === 0 && this.#next !== undefined) {
      const { chunks, next } = await this.page(this.#next);
      this.#chunks = [...chunks];
      this.#next = next;
    }
    const chunk = this.#chunks.shift();
    if (chunk === undefined) this.done();
    const { nameAnywhere } = this.plan;
    return nameAnywhere === '' ? chunk : chunk?.filter((event) => isNamed(event, nameAnywhere));
  }
}

const isNamed = (event: WatchEvent, name: string): boolean =>
  event.type !== 'BOOKMARK' && event.object.key.endsWith(`/${name}`);
