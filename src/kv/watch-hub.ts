// The watches of a store in this process: who wants which prefix, and handing committed changes to them.
//
// Keys are paths and nearly every watch is of a folder (`/registry/pods/`), so watches are found by looking up the
// folders above a changed key: for `/registry/pods/a/b`, `/`, `/registry/`, `/registry/pods/` and `/registry/pods/a/`.
//
// A receiver may write: what that dispatches waits until all receivers have their events of the dispatch under way, so that
// every watch has its events in revision order.
import { KvError, type KvEvent, type KvWatch, type KvWatchReceiver, type WatchKeysRequest } from './kv.js';

interface HubWatch {
  readonly prefix: string;
  /** Events before this revision are not wanted. */
  readonly startRevision: number;
  readonly previous: boolean;
  readonly receiver: KvWatchReceiver;
  batch: KvEvent[];
}

export class WatchHub {
  readonly #folders = new Map<string, Set<HubWatch>>();
  /** Watches of a prefix that does not end with a slash. */
  readonly #others = new Set<HubWatch>();
  /** What receivers have caused while they were called; absent while none is. */
  #deferred: (() => void)[] | undefined;

  /** Live from the next dispatch on; what came before is the caller's to deliver first. */
  add({ prefix, startRevision = 0, previous = false }: WatchKeysRequest, receiver: KvWatchReceiver): KvWatch {
    const watch: HubWatch = { prefix, startRevision, previous, receiver, batch: [] };
    const set = prefix.endsWith('/') ? this.#folder(prefix) : this.#others;
    set.add(watch);
    return {
      cancel: () => {
        set.delete(watch);
        if (set !== this.#others && set.size === 0) this.#folders.delete(watch.prefix);
      },
    };
  }

  get isEmpty(): boolean {
    return this.#folders.size + this.#others.size === 0;
  }

  // hot: once per commit
  dispatch(events: readonly KvEvent[]): void {
    this.#inOrder(() => this.#dispatch(events));
  }

  progress(revision: number): void {
    this.#inOrder(() => {
      for (const watch of this.#all()) watch.receiver.progress(revision);
    });
  }

  fail(error: KvError): void {
    const watches = [...this.#all()];
    this.#folders.clear();
    this.#others.clear();
    for (const watch of watches) watch.receiver.failed(error);
  }

  #inOrder(step: () => void): void {
    if (this.#deferred !== undefined) {
      this.#deferred.push(step);
      return;
    }
    const deferred: (() => void)[] = (this.#deferred = []);
    try {
      step();
      // It grows while it is walked.
      for (const next of deferred) next();
    } finally {
      this.#deferred = undefined;
    }
  }

  #dispatch(events: readonly KvEvent[]): void {
    const touched: HubWatch[] = [];
    let folder = '';
    let above: readonly Set<HubWatch>[] = [];
    for (const event of events) {
      const { key } = event;
      // Writes at one time are mostly to one folder.
      if (key.lastIndexOf('/') !== folder.length - 1 || !key.startsWith(folder)) {
        folder = key.slice(0, key.lastIndexOf('/') + 1);
        above = this.#above(folder);
      }
      for (const watches of above) for (const watch of watches) collect(watch, event, touched);
      for (const watch of this.#others) if (key.startsWith(watch.prefix)) collect(watch, event, touched);
    }
    for (const watch of touched) {
      const batch = watch.batch;
      watch.batch = [];
      // A store in this process does not wait for its watches: their receivers answer at once. One that throws must
      // not keep the others from their events, nor the writers from their answers.
      try {
        void watch.receiver.events(batch);
      } catch (error) {
        watch.receiver.failed(new KvError('unavailable', `a watch failed: ${String(error)}`, { cause: error }));
      }
    }
  }

  /** The watches of a folder and of all it lies in. */
  #above(folder: string): readonly Set<HubWatch>[] {
    const found: Set<HubWatch>[] = [];
    for (let slash = folder.indexOf('/'); slash >= 0; slash = folder.indexOf('/', slash + 1)) {
      const watches = this.#folders.get(folder.slice(0, slash + 1));
      if (watches !== undefined) found.push(watches);
    }
    return found;
  }

  *#all(): Iterable<HubWatch> {
    for (const set of this.#folders.values()) yield* set;
    yield* this.#others;
  }

  #folder(prefix: string): Set<HubWatch> {
    let set = this.#folders.get(prefix);
    if (set === undefined) this.#folders.set(prefix, (set = new Set()));
    return set;
  }
}

function collect(watch: HubWatch, event: KvEvent, touched: HubWatch[]): void {
  if (event.revision < watch.startRevision) return;
  if (watch.batch.length === 0) touched.push(watch);
  watch.batch.push(watch.previous || event.previous === undefined ? event : { ...event, previous: undefined });
}
