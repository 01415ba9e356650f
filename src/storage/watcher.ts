// One watch: what it wants of each change, its bookmarks, and its end.
import type { Clock } from '../lib/clock.js';
import type { Entry } from './entry.js';
import type { Change } from './history.js';
import type { Predicate, StorageError, Watch, WatchEvent, WatchRequest } from './store.js';

/** Changes that wait while the initial state is sent; beyond it the watch has fallen behind. */
const MAX_WAITING_CHANGES = 10_000;
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** Initial events handed over at once: they are joined, and each watcher has a copy until its client has read it. */
const INITIAL_CHUNK = 500;
const INITIAL_CHUNK_BYTES = 256 * 1024;
const BOOKMARK_PERIOD_MS = 60_000;
/** A watch that will time out gets its last bookmark this long before. */
const BEFORE_TIMEOUT_MS = 2_000;

const NOTHING = (): void => undefined;

export class Watcher implements Watch {
  readonly ended: Promise<StorageError | undefined>;
  // Requests are made in many ways, and to V8 each is of another form: what is asked for every event is kept here.
  readonly #predicate: Predicate | undefined;
  readonly #receive: (events: readonly WatchEvent[]) => boolean;
  readonly request: WatchRequest;
  readonly #clock: Clock;
  readonly #startRevision: number;
  #finish: (error: StorageError | undefined) => void = NOTHING;
  #left: (() => void) | undefined = undefined;
  #over = false;
  /** While the initial state is being sent. */
  #waiting: Change[] | undefined = [];
  #waitingBytes = 0;
  #nextBookmarkMs: number;
  readonly #onAbort = (): void => this.end(undefined);

  constructor(options: {
    request: WatchRequest;
    receive: (events: readonly WatchEvent[]) => boolean;
    startRevision: number;
    clock: Clock;
  }) {
    this.request = options.request;
    this.#predicate = options.request.predicate;
    this.#receive = options.receive;
    this.#clock = options.clock;
    this.#startRevision = options.startRevision;
    this.ended = new Promise((resolve) => (this.#finish = resolve));
    this.#nextBookmarkMs = this.#afterBookmark();
    this.request.signal.addEventListener('abort', this.#onAbort);
    if (this.request.signal.aborted) this.end(undefined);
  }

  /** For the one who keeps it. */
  whenOver(run: () => void): void {
    this.#left = run;
  }

  get over(): boolean {
    return this.#over;
  }

  /** True for a watcher that gets every change's plain event, so that one array serves many. */
  takesAll(firstRevision: number): boolean {
    return this.#predicate === undefined && this.#waiting === undefined && firstRevision > this.#startRevision;
  }

  /** Sends the initial state, then what happened meanwhile, then lives on. */
  start(state: readonly Entry[], revision: number, missed: readonly Change[] = []): void {
    const { allowBookmarks, sendInitialEvents = false } = this.request;
    const marked = sendInitialEvents && allowBookmarks;
    if (state.length === 0 && !marked && missed.length <= INITIAL_CHUNK) {
      this.#waiting = undefined;
      this.#tell(missed);
      return;
    }
    void this.#sendInitial(state, missed, marked ? revision : 0).catch(() => this.end(undefined));
  }

  // hot: every change for every watcher
  take(changes: readonly Change[]): void {
    if (this.#over) return;
    if (this.#waiting !== undefined) {
      for (const change of changes) {
        this.#waiting.push(change);
        this.#waitingBytes += change.entry?.size ?? 0;
      }
      if (this.#waiting.length > MAX_WAITING_CHANGES || this.#waitingBytes > MAX_WAITING_BYTES) this.end(undefined);
      return;
    }
    this.#tell(changes);
  }

  #tell(changes: readonly Change[]): void {
    const events: WatchEvent[] = [];
    for (const change of changes) {
      const event = this.#eventOf(change);
      if (event !== undefined) events.push(event);
    }
    if (events.length > 0) this.deliver(events);
  }

  deliver(events: readonly WatchEvent[]): void {
    if (this.#over) return;
    let taken = false;
    try {
      taken = this.#receive(events);
    } finally {
      if (!taken) this.end(undefined);
    }
  }

  bookmarkDue(nowMs: number): boolean {
    return this.request.allowBookmarks && this.#waiting === undefined && nowMs >= this.#nextBookmarkMs;
  }

  bookmark(revision: number, event: WatchEvent = { type: 'BOOKMARK', revision }): void {
    if (!this.bookmarkDue(this.#clock.now())) return;
    this.#nextBookmarkMs = this.#afterBookmark();
    if (revision > this.#startRevision) this.deliver([event]);
  }

  end(error: StorageError | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#waiting = undefined;
    this.request.signal.removeEventListener('abort', this.#onAbort);
    this.#finish(error);
    this.#left?.();
  }

  async #sendInitial(state: readonly Entry[], missed: readonly Change[], markRevision: number): Promise<void> {
    const predicate = this.#predicate;
    for (let at = 0; at < state.length && !this.#over;) {
      const chunk: WatchEvent[] = [];
      let bytes = 0;
      for (const end = at + INITIAL_CHUNK; at < state.length && at < end && bytes < INITIAL_CHUNK_BYTES; at++) {
        const object = state[at] as Entry;
        if (predicate !== undefined && !predicate(object)) continue;
        chunk.push(object.added);
        bytes += object.size;
      }
      if (chunk.length > 0) this.deliver(chunk);
      await (this.request.drained?.() ?? (at < state.length ? nextTurn() : undefined));
    }
    if (markRevision > 0) this.deliver([{ type: 'BOOKMARK', revision: markRevision, initialEventsEnd: true }]);
    await this.#catchUp(missed);
  }

  /** Tells what was missed, then what happened while that was told, and so on; then it lives. */
  async #catchUp(missed: readonly Change[]): Promise<void> {
    let untold = missed;
    for (;;) {
      for (let at = 0; at < untold.length && !this.#over;) {
        let to = at;
        let bytes = 0;
        for (const end = at + INITIAL_CHUNK; to < untold.length && to < end && bytes < INITIAL_CHUNK_BYTES; to++) {
          bytes += untold[to]?.entry?.size ?? 0;
        }
        this.#tell(untold.slice(at, to));
        at = to;
        await (this.request.drained?.() ?? (at < untold.length ? nextTurn() : undefined));
      }
      untold = this.#waiting ?? [];
      if (untold.length === 0) break;
      this.#waiting = [];
      this.#waitingBytes = 0;
    }
    this.#waiting = undefined;
  }

  #eventOf(change: Change): WatchEvent | undefined {
    if (change.revision <= this.#startRevision) return undefined;
    const predicate = this.#predicate;
    if (predicate === undefined) return change.plain;
    const now = change.entry !== undefined && predicate(change.entry);
    const before = change.previous !== undefined && predicate(change.previous);
    if (now) return before ? change.modified : change.added;
    return before ? change.deleted : undefined;
  }

  #afterBookmark(): number {
    const now = this.#clock.now();
    const regular = now + BOOKMARK_PERIOD_MS;
    const last = (this.request.timeoutAtMs ?? Infinity) - BEFORE_TIMEOUT_MS;
    if (last >= regular) return regular;
    return last > now ? last : Infinity;
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
