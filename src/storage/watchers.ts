// The watchers of one resource, found by what they watch, so that a change costs only those it may concern.
import { afterPeriod, type Clock } from '../lib/async/clock.js';
import { yieldToEventLoop } from '../lib/scheduling/yield.js';
import type { Change } from './history.js';
import type { StorageError, WatchEvent } from './store.js';
import type { Watcher } from './watcher.js';

const BOOKMARK_CHECK_MS = 1_000;
/** Watches that began together are due together: bookmarks yield to the event loop after this many. */
const BOOKMARKS_AT_ONCE = 500;

export interface WatcherScope {
  /** Keys wanted start with this; a whole key when `single`. */
  readonly prefix: string;
  readonly single: boolean;
  readonly nameAnywhere: string;
  /** The value of the indexed field that all wanted objects have. */
  readonly indexed?: string;
}

export class Watchers {
  readonly #everything = new Set<Watcher>();
  /** Those that are still sent what they have missed; changes are not for them yet. */
  readonly #catchingUp = new Set<Watcher>();
  /** By `namespace/`. */
  readonly #byNamespace = new Map<string, Set<Watcher>>();
  /** By whole key. */
  readonly #byKey = new Map<string, Set<Watcher>>();
  /** By a name that is watched in every namespace. */
  readonly #byName = new Map<string, Set<Watcher>>();
  /** By the value of the indexed field, in every namespace. */
  readonly #byIndexed = new Map<string, Set<Watcher>>();
  #size = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(
    readonly clock: Clock,
    /** The revision a bookmark may carry now. */
    readonly bookmarkRevision: () => Promise<number>,
  ) {}

  get size(): number {
    return this.#size;
  }

  /** It will be added when it has caught up; until then it may have to end. */
  expect(watcher: Watcher): void {
    this.#catchingUp.add(watcher);
    watcher.whenOver(() => this.#catchingUp.delete(watcher));
  }

  add(watcher: Watcher, scope: WatcherScope): void {
    this.#catchingUp.delete(watcher);
    const [index, key] = this.#place(scope);
    const set = index === undefined ? this.#everything : setIn(index, key);
    set.add(watcher);
    this.#size++;
    watcher.whenOver(() => {
      this.#size--;
      set.delete(watcher);
      if (index !== undefined && set.size === 0) index.delete(key);
    });
    this.#checkBookmarks();
  }

  // hot: every commit
  dispatch(changes: readonly Change[]): void {
    if (this.#size === 0) return;
    sendAll(this.#everything, changes);
    if (this.#byNamespace.size > 0) sendBy(this.#byNamespace, changes, ({ key }) => key.slice(0, key.indexOf('/') + 1));
    if (this.#byKey.size > 0) sendBy(this.#byKey, changes, ({ key }) => key);
    if (this.#byName.size > 0) sendBy(this.#byName, changes, ({ key }) => key.slice(key.indexOf('/') + 1));
    if (this.#byIndexed.size > 0) sendByIndexed(this.#byIndexed, changes);
  }

  endAll(error: StorageError | undefined): void {
    for (const watcher of this.#catchingUp) watcher.end(error);
    for (const watcher of this.#all()) watcher.end(error);
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #place({ prefix, single, nameAnywhere, indexed }: WatcherScope): [Map<string, Set<Watcher>> | undefined, string] {
    if (single) return [this.#byKey, prefix];
    if (nameAnywhere !== '') return [this.#byName, nameAnywhere];
    if (prefix === '' && indexed !== undefined) return [this.#byIndexed, indexed];
    return prefix === '' ? [undefined, ''] : [this.#byNamespace, prefix];
  }

  *#all(): Iterable<Watcher> {
    yield* this.#everything;
    for (const index of [this.#byNamespace, this.#byKey, this.#byName, this.#byIndexed]) {
      for (const set of index.values()) yield* set;
    }
  }

  #checkBookmarks(): void {
    this.#cancelTimer ??= afterPeriod(this.clock, BOOKMARK_CHECK_MS, () => {
      this.#cancelTimer = undefined;
      void this.#sendBookmarks();
    });
  }

  async #sendBookmarks(): Promise<void> {
    const now = this.clock.now();
    const due: Watcher[] = [];
    for (const watcher of this.#all()) if (watcher.bookmarkDue(now)) due.push(watcher);
    try {
      for (let at = 0; at < due.length; at += BOOKMARKS_AT_ONCE) {
        if (at > 0) await yieldToEventLoop();
        // Read again after each yield: a bookmark must not be older than the last event of its watch.
        const revision = await this.bookmarkRevision();
        const event: WatchEvent = { type: 'BOOKMARK', revision };
        for (const watcher of due.slice(at, at + BOOKMARKS_AT_ONCE)) watcher.bookmark(revision, event);
      }
    } finally {
      if (this.#size > 0) this.#checkBookmarks();
    }
  }
}

function setIn(index: Map<string, Set<Watcher>>, key: string): Set<Watcher> {
  let set = index.get(key);
  if (set === undefined) index.set(key, (set = new Set()));
  return set;
}

function sendBy(index: Map<string, Set<Watcher>>, changes: readonly Change[], keyOf: (change: Change) => string): void {
  if (changes.length === 1 && changes[0] !== undefined) {
    const set = index.get(keyOf(changes[0]));
    if (set !== undefined) sendAll(set, changes);
    return;
  }
  const groups = new Groups(index);
  for (const change of changes) groups.add(keyOf(change), change);
  groups.send();
}

/** An object that moves from one value to another concerns both. */
function sendByIndexed(index: Map<string, Set<Watcher>>, changes: readonly Change[]): void {
  const groups = new Groups(index);
  for (const change of changes) {
    const now = change.entry?.indexed;
    const before = change.previous?.indexed;
    if (now !== undefined) groups.add(now, change);
    if (before !== undefined && before !== now) groups.add(before, change);
  }
  groups.send();
}

/** Changes by whom they concern. */
class Groups {
  readonly #byKey = new Map<string, Change[]>();

  constructor(private readonly index: ReadonlyMap<string, Set<Watcher>>) {}

  add(key: string, change: Change): void {
    if (!this.index.has(key)) return;
    const group = this.#byKey.get(key);
    if (group === undefined) this.#byKey.set(key, [change]);
    else group.push(change);
  }

  send(): void {
    for (const [key, group] of this.#byKey) {
      const set = this.index.get(key);
      if (set !== undefined) sendAll(set, group);
    }
  }
}

/** Watchers without a selector all get one and the same array. */
function sendAll(watchers: Set<Watcher>, changes: readonly Change[]): void {
  if (watchers.size === 0) return;
  const firstRevision = changes[0]?.revision ?? 0;
  let plain: WatchEvent[] | undefined;
  for (const watcher of watchers) {
    if (watcher.takesAll(firstRevision)) watcher.deliver((plain ??= plainEvents(changes)));
    else watcher.take(changes);
  }
}

const plainEvents = (changes: readonly Change[]): WatchEvent[] =>
  changes.map((change) => change.plain).filter((event) => event !== undefined);
