// One watch: what it wants of each change, its bookmarks, and its end.
//
//   initial state ──▶ what was missed, chunk by chunk ──▶ live: each change as it happens
//
// Until the watch is live, only the revision that it has reached is kept: it reads the next changes when its client has
// read the ones before. Changes that happen meanwhile are missed, too, and arrive the same way.
import type { Clock } from '../lib/async/clock.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { Yielder } from '../lib/scheduling/yield.js';
import type { Entry } from './entry.js';
import type { Change } from './history.js';
import { type Predicate, StorageError, type Watch, type WatchEvent, type WatchRequest } from './store.js';

/** Initial events handed over at once: they are joined, and each watcher has a copy until its client has read it. */
const INITIAL_CHUNK = 500;
export const INITIAL_CHUNK_BYTES = 256 * 1024;
const BOOKMARK_PERIOD_MS = 60_000;
/** A watch that will time out gets its last bookmark this long before. */
const BEFORE_TIMEOUT_MS = 2_000;

const NOTHING = (): void => undefined;

/** Where a watch gets what it has missed. */
export interface Missed {
  /** True when nothing after this revision was missed; from then on the watch is handed what happens. */
  joins(revision: number): boolean;
  /** The next changes after this revision, as many as are sent at once, up to and with the revision `upTo`. */
  next(revision: number): MaybePromise<{ readonly changes: readonly Change[]; readonly upTo: number }>;
}

/** An initial state that is read while it is sent. */
export interface StateInChunks {
  /** The next events, as many as are sent at once, of objects that the watch may want; undefined after the last. */
  next(): Promise<readonly WatchEvent[] | undefined>;
}

export class Watcher implements Watch {
  readonly ended: Promise<StorageError | undefined>;
  // Requests have many V8 shapes, so members that every event reads are copied here to keep the access monomorphic.
  readonly #predicate: Predicate | undefined;
  readonly #receive: (events: readonly WatchEvent[]) => boolean;
  readonly request: WatchRequest;
  readonly #clock: Clock;
  readonly #startRevision: number;
  #finish: (error: StorageError | undefined) => void = NOTHING;
  #left: (() => void) | undefined = undefined;
  #over = false;
  /** It has all that happened so far, and is handed what happens. */
  #live = false;
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
    return this.#predicate === undefined && this.#live && firstRevision > this.#startRevision;
  }

  /** Sends the initial state, then what happened since its revision, then lives on. */
  start(state: readonly Entry[] | StateInChunks, revision: number, missed: Missed): void {
    void this.#run(state, revision, missed).catch((error: unknown) =>
      this.end(error instanceof StorageError ? error : undefined),
    );
  }

  // hot: every change for every watcher
  take(changes: readonly Change[]): void {
    if (!this.#over) this.#deliver(changes);
  }

  #deliver(changes: readonly Change[]): void {
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
    return this.request.allowBookmarks && this.#live && nowMs >= this.#nextBookmarkMs;
  }

  bookmark(revision: number, event: WatchEvent = { type: 'BOOKMARK', revision }): void {
    if (!this.bookmarkDue(this.#clock.now())) return;
    this.#nextBookmarkMs = this.#afterBookmark();
    if (revision > this.#startRevision) this.deliver([event]);
  }

  end(error: StorageError | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#live = false;
    this.request.signal.removeEventListener('abort', this.#onAbort);
    this.#finish(error);
    this.#left?.();
  }

  /** As much of it as is at hand is sent at once, before this answers. */
  async #run(state: readonly Entry[] | StateInChunks, revision: number, missed: Missed): Promise<void> {
    const { allowBookmarks, sendInitialEvents = false } = this.request;
    const marked = sendInitialEvents && allowBookmarks;
    const yielder = new Yielder();
    const isAtHand = 'length' in state;
    if (!isAtHand) await this.#sendChunks(state, yielder);
    else if (state.length > 0) await this.#sendInitial(state, yielder);
    if (marked) this.deliver([{ type: 'BOOKMARK', revision, initialEventsEnd: true }]);
    let reached = revision;
    for (let isFirst = !isAtHand || state.length === 0; !this.#over && !missed.joins(reached); isFirst = false) {
      if (!isFirst) await this.#drained(yielder);
      if (this.#over) return;
      const found = missed.next(reached);
      const { changes, upTo } = found instanceof Promise ? await found : found;
      reached = Math.max(reached, upTo);
      this.#deliver(changes);
    }
    this.#live = !this.#over;
  }

  async #sendInitial(state: readonly Entry[], yielder: Yielder): Promise<void> {
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
      if (at < state.length) await this.#drained(yielder);
    }
  }

  async #sendChunks(state: StateInChunks, yielder: Yielder): Promise<void> {
    while (!this.#over && (await this.#sendChunk(state))) await this.#drained(yielder);
  }

  /** Nothing of the chunk is held when this answers. */
  async #sendChunk(state: StateInChunks): Promise<boolean> {
    const chunk = await state.next();
    if (chunk === undefined) return false;
    const predicate = this.#predicate;
    const wanted =
      predicate === undefined ? chunk : chunk.filter((event) => event.type !== 'BOOKMARK' && predicate(event.object));
    if (wanted.length > 0) this.deliver(wanted);
    return true;
  }

  /** Waits until the client has read what was sent, and yields to the event loop if due. */
  async #drained(yielder: Yielder): Promise<void> {
    await this.request.drained?.();
    await yielder.yieldIfDue();
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
