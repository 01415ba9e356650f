// Pages of the store that several watches read at about the same time. Who wants a page that another is loading waits for
// that one; the load stops when the last of them has left. How many pages load at once, and how many bytes of loaded ones
// stay for the next watch, is bounded (history-budget.ts).
import { withSignal } from '../outbound/with-signal.js';
import type { HistoryBudget } from './history-budget.js';

interface SharedPage<P> {
  readonly loaded: Promise<P>;
  /** Aborted when nobody waits any more. */
  readonly stop: AbortController;
  waiting: number;
  isLoaded: boolean;
}

export class SharedPages<P> {
  readonly #pages = new Map<string | number, SharedPage<P>>();

  constructor(
    private readonly budget: HistoryBudget,
    private readonly bytesOf: (page: P) => number,
  ) {}

  async get(id: string | number, load: (stop: AbortSignal) => Promise<P>, signal: AbortSignal): Promise<P> {
    const page = this.#pages.get(id) ?? this.#load(id, load);
    page.waiting++;
    try {
      return await withSignal(page.loaded, signal);
    } finally {
      page.waiting--;
      if (page.waiting === 0 && !page.isLoaded) {
        if (this.#pages.get(id) === page) this.#pages.delete(id);
        page.stop.abort();
      }
    }
  }

  #load(id: string | number, load: (stop: AbortSignal) => Promise<P>): SharedPage<P> {
    const stop = new AbortController();
    const loaded = this.budget.load(stop.signal, () => load(stop.signal));
    const page: SharedPage<P> = { loaded, stop, waiting: 0, isLoaded: false };
    this.#pages.set(id, page);
    const forget = (): void => {
      if (this.#pages.get(id) === page) this.#pages.delete(id);
    };
    loaded.then((found) => {
      page.isLoaded = true;
      if (!stop.signal.aborted) this.budget.keep(this.bytesOf(found), forget);
    }, forget);
    return page;
  }
}
