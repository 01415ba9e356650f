// Watches of one prefix share a watch of etcd. Clients that watch what has no watch cache, Events for one, each have a watch
// of the store: without sharing, etcd would send every change to each of them, and each would decode it.
//
//   shared watch: everything up to 39 has been handed over
//     ├─ receiver from 12     has everything up to 39
//     ├─ receiver from 40
//     └─ receiver from 90     joined when its client had listed at 89; what comes before 90 is not for it
//   a receiver from 30 cannot join: 30 to 39 are not handed over twice. It has a watch of its own.
import type { KvError, KvEvent, KvWatch, KvWatchReceiver } from '../kv.js';

export interface WatchedKeys {
  readonly prefix: string;
  /** The first revision wanted. */
  readonly startRevision: number;
  readonly previous: boolean;
}

/** Begins a watch of etcd. */
export type BeginWatch = (keys: WatchedKeys, receiver: KvWatchReceiver) => KvWatch;

export class SharedWatches {
  /** The watches of etcd that others may join, by what they watch. */
  readonly #shared = new Map<string, SharedWatch>();

  constructor(
    private readonly begin: BeginWatch,
    /** The oldest revision that etcd is known to have; it refuses a watch from before. */
    private readonly compactedRevision: () => number,
  ) {}

  add(keys: WatchedKeys, receiver: KvWatchReceiver): KvWatch {
    const { prefix, startRevision, previous } = keys;
    const id = `${previous ? '+' : ''}${prefix}`;
    const known = this.#shared.get(id);
    const first = Math.max(known?.nextRevision ?? 0, this.compactedRevision());
    if (known !== undefined && startRevision >= first) return known.join(receiver, startRevision);
    const shared: SharedWatch = new SharedWatch(keys, this.begin, {
      over: () => {
        if (this.#shared.get(id) === shared) this.#shared.delete(id);
      },
      again: (from, left) => this.add({ ...keys, startRevision: from }, left),
    });
    if (known === undefined) this.#shared.set(id, shared);
    return shared.join(receiver, startRevision);
  }
}

interface SharedWatchOwner {
  /** Nobody may join any more. */
  over(): void;
  /** Begins another watch for a receiver that this one cannot serve. */
  again(from: number, receiver: KvWatchReceiver): KvWatch;
}

interface Joined {
  readonly receiver: KvWatchReceiver;
  /** The first revision that the receiver wants. */
  readonly from: number;
  /** Its watch, once it is no longer this one. */
  moved: KvWatch | undefined;
}

class SharedWatch implements KvWatchReceiver {
  /** The first revision that has not been handed over. */
  nextRevision: number;
  readonly #joined = new Set<Joined>();
  readonly #watch: KvWatch;

  constructor(
    keys: WatchedKeys,
    begin: BeginWatch,
    private readonly owner: SharedWatchOwner,
  ) {
    this.nextRevision = keys.startRevision;
    this.#watch = begin(keys, this);
  }

  join(receiver: KvWatchReceiver, from: number): KvWatch {
    const joined: Joined = { receiver, from, moved: undefined };
    this.#joined.add(joined);
    return { cancel: () => this.#leave(joined) };
  }

  // hot: every event
  events(batch: readonly KvEvent[]): void | Promise<void> {
    const first = batch[0]?.revision ?? 0;
    this.nextRevision = Math.max(this.nextRevision, (batch[batch.length - 1]?.revision ?? 0) + 1);
    let busy: Promise<void>[] | undefined;
    for (const { receiver, from } of this.#joined) {
      const wanted = first >= from ? batch : batch.filter(({ revision }) => revision >= from);
      const handling = wanted.length === 0 ? undefined : receiver.events(wanted);
      if (handling !== undefined) (busy ??= []).push(handling);
    }
    if (busy !== undefined) return busy.length === 1 ? busy[0] : Promise.all(busy).then(() => undefined);
  }

  progress(revision: number): void {
    this.nextRevision = Math.max(this.nextRevision, revision + 1);
    for (const { receiver, from } of this.#joined) if (revision >= from - 1) receiver.progress(revision);
  }

  /** What was compacted may be what none but the first receiver wanted. The others have been handed nothing yet. */
  failed(error: KvError): void {
    this.owner.over();
    const oldest = error.code === 'compacted' ? error.details.compactedRevision : undefined;
    const all = [...this.#joined];
    this.#joined.clear();
    for (const joined of all) {
      if (oldest === undefined || joined.from < oldest) joined.receiver.failed(error);
      else joined.moved = this.owner.again(joined.from, joined.receiver);
    }
  }

  #leave(joined: Joined): void {
    joined.moved?.cancel();
    if (!this.#joined.delete(joined) || this.#joined.size > 0) return;
    this.owner.over();
    this.#watch.cancel();
  }
}
