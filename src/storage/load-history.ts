// Loads what happened to one resource from the store's own history, for watches that resume from before what is in
// memory. Every watch reads page after page at its client's speed; nothing is loaded ahead of it.
//
//   the store's history ├─page─┼─page─┼─page─┼─page─┤ floor ├─ the cache's history ─┤ live ─▶
//   a watch from here       ▲ ────▶                         each holds no page while its client reads, only the
//   another from here              ▲ ────▶                  revision that it has reached
//
// Pages begin at multiples of PAGE_REVISIONS, and where the one before was full, so all watches read the same ones
// (shared-pages.ts).
import type { Clock } from '../lib/async/clock.js';
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import { Yielder } from '../lib/scheduling/yield.js';
import type { ChangesRequest, KeyValueStore, KvEvent } from '../kv/kv.js';
import { storageError } from './errors.js';
import { Change, settle } from './history.js';
import type { HistoryBudget } from './history-budget.js';
import { SharedPages } from './shared-pages.js';
import type { Values } from './values.js';

const PAGE_REVISIONS = 256;
/** Of the versions that the changes of a page wrote and replaced, as they are stored; one change may have more. */
const PAGE_BYTES = 256 * 1024;
/** The estimated memory of a change beside its versions. */
const CHANGE_BYTES = 400;
const PAGE_OVERHEAD_BYTES = 1024;

/** Changes in order, and the revision up to which there are no others. */
export interface HistoryPage {
  readonly changes: readonly Change[];
  readonly upTo: number;
}

export class HistoryLoader {
  /** By the first revision. */
  readonly #pages: SharedPages<HistoryPage>;

  constructor(
    private readonly kv: KeyValueStore,
    private readonly values: Values,
    private readonly clock: Clock,
    readonly budget: HistoryBudget,
  ) {
    this.#pages = new SharedPages(budget, bytesOf);
  }

  /** Whether the store can answer everything that happened after this revision. */
  reachesBackTo(revision: number): boolean {
    return this.kv.changes !== undefined && revision >= this.kv.compactedRevision();
  }

  /** Where the page begins that has the first change after this revision. */
  pageAfter(revision: number): number {
    const first = revision + 1;
    return Math.max(first - (first % PAGE_REVISIONS), this.kv.compactedRevision() + 1);
  }

  /** The page that begins there, up to `endRevision` at most. Fails with `too-old` once the store has dropped it. */
  page(startRevision: number, endRevision: number, signal: AbortSignal): Promise<HistoryPage> {
    const { prefix } = this.values.options;
    const lastOfPage = startRevision - (startRevision % PAGE_REVISIONS) + PAGE_REVISIONS - 1;
    const range = { prefix, startRevision, endRevision: Math.min(endRevision, lastOfPage), maxBytes: PAGE_BYTES };
    return this.#pages.get(startRevision, (stop) => this.#read({ ...range, signal: stop }), signal);
  }

  async #read(request: ChangesRequest): Promise<HistoryPage> {
    try {
      const { events = [], upTo = request.endRevision } = (await this.kv.changes?.(request)) ?? {};
      const changes: Change[] = [];
      const yielder = new Yielder();
      for (const event of events) {
        await yielder.yieldIfDue();
        request.signal?.throwIfAborted();
        changes.push(await changeOf(event, this.values, this.clock.now()));
      }
      settle(changes);
      return { changes, upTo };
    } catch (error) {
      throw storageError(error);
    }
  }
}

/** At once where its values need not be waited for. */
export function changeOf(event: KvEvent, values: Values, nowMs: number): MaybePromise<Change> {
  const { type, value, revision, previous } = event;
  const key = event.key.slice(values.options.prefix.length);
  const made = type === 'put' ? values.entry(key, value, revision) : undefined;
  return whenReady(made, (entry) => {
    const replaced = previous && values.entry(key, previous.value, previous.modRevision);
    return whenReady(replaced, (before) => new Change({ key, revision, entry, previous: before, atMs: nowMs }));
  });
}

/** With the events that are encoded for those who watch: they hang on the changes, and are as large as the versions. */
const bytesOf = ({ changes }: HistoryPage): number =>
  changes.reduce(
    (bytes, { entry, previous }) => bytes + CHANGE_BYTES + 2 * (entry?.size ?? 0) + 2 * (previous?.size ?? 0),
    PAGE_OVERHEAD_BYTES,
  );
