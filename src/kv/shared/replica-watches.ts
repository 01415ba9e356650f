// Watches in a process that does not have the store: events come from the owner, what a watch missed before it began, or wants to
// know of what was replaced, from the store's history.
import {
  type ChangesPage,
  type ChangesRequest,
  compacted,
  KvError,
  type KvEvent,
  type KvWatch,
  type KvWatchReceiver,
  type WatchKeysRequest,
} from '../kv.js';
import { WatchHub } from '../watch-hub.js';
import { LateReceiver } from './late-receiver.js';
import { PullingReceiver } from './pulling-receiver.js';

/** Of what a watch missed before it began, read at once. */
const PAGE_BYTES = 4 * 1024 * 1024;

export interface WatchedStore {
  /** Up to which revision events have been dispatched. */
  released(): number;
  compactedRevision(): number;
  changes(request: ChangesRequest): Promise<ChangesPage>;
}

export class ReplicaWatches {
  readonly #store: WatchedStore;
  readonly #hub = new WatchHub();
  /** Watches that are being handed what they missed, by their prefix. */
  readonly #catchingUp = new Map<symbol, { readonly prefix: string; readonly done: Promise<void> }>();

  constructor(store: WatchedStore) {
    this.#store = store;
  }

  add(request: WatchKeysRequest, receiver: KvWatchReceiver): KvWatch {
    const released = this.#store.released();
    const { startRevision = released + 1 } = request;
    const oldest = this.#store.compactedRevision();
    if (startRevision <= oldest) {
      queueMicrotask(() => receiver.failed(compacted(startRevision, oldest)));
      return { cancel: () => undefined };
    }
    if (request.previous === true) return this.#pull({ ...request, startRevision }, receiver);
    if (startRevision > released) return this.#hub.add({ ...request, startRevision }, receiver);
    return this.#catchUp({ ...request, startRevision }, receiver);
  }

  /** Events do not come with what they replaced: who wants that reads them from the store's history. */
  #pull(request: StartedWatch, receiver: KvWatchReceiver): KvWatch {
    const changes = (page: Omit<ChangesRequest, 'maxBytes'>): Promise<ChangesPage> =>
      this.#store.changes({ ...page, maxBytes: PAGE_BYTES });
    const pulling = new PullingReceiver(request, receiver, changes);
    const live = this.#hub.add(request, pulling);
    pulling.pullUpTo(this.#store.released());
    return {
      cancel: () => {
        live.cancel();
        pulling.cancel();
      },
    };
  }

  #catchUp(request: StartedWatch, receiver: KvWatchReceiver): KvWatch {
    const { prefix, startRevision } = request;
    const endRevision = this.#store.released();
    const late = new LateReceiver(receiver);
    const live = this.#hub.add({ ...request, startRevision: endRevision + 1 }, late);
    const id = Symbol(prefix);
    const done = this.#handOver(late, { prefix, startRevision, endRevision, maxBytes: PAGE_BYTES })
      .catch((error: unknown) => {
        live.cancel();
        receiver.failed(error instanceof KvError ? error : new KvError('unavailable', String(error)));
      })
      .finally(() => this.#catchingUp.delete(id));
    this.#catchingUp.set(id, { prefix, done });
    return {
      cancel: () => {
        late.isCancelled = true;
        live.cancel();
      },
    };
  }

  /** What happened before the watch began, page after page. */
  async #handOver(late: LateReceiver, request: ChangesRequest): Promise<void> {
    for (let { startRevision } = request; startRevision <= request.endRevision && !late.isCancelled;) {
      const { events, upTo } = await this.#store.changes({ ...request, startRevision });
      if (events.length > 0 && !late.isCancelled) await late.past(events);
      startRevision = upTo + 1;
    }
    late.begin();
  }

  // hot: every consistent read
  /** A watch of keys that begin so, or of some of them, has not received all that was dispatched. */
  isBehind(prefix: string): boolean {
    for (const watch of this.#catchingUp.values()) {
      if (prefix.startsWith(watch.prefix) || watch.prefix.startsWith(prefix)) return true;
    }
    return false;
  }

  /** Fulfilled when all that were behind have received what they missed. */
  async caughtUp(): Promise<void> {
    for (const { done } of this.#catchingUp.values()) await done;
  }

  dispatch(events: readonly KvEvent[]): void {
    this.#hub.dispatch(events);
  }

  progress(): void {
    this.#hub.progress(this.#store.released());
  }

  fail(error: KvError): void {
    this.#hub.fail(error);
  }
}

type StartedWatch = WatchKeysRequest & { readonly startRevision: number };
