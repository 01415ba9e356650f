// The store of unit tests and of throwaway clusters: everything in memory.
//
// The state is an ordered map whose copies share what is alike, so that marking a state costs nothing: a snapshot is a copy,
// which no compaction can take away, and what differs from it is found without looking at what is shared. A past revision is
// the present state with the changes since then undone.
import { type Clock, systemClock } from '../lib/async/clock.js';
import { Yielder } from '../lib/scheduling/yield.js';
import { differences, OrderedMap } from '../lib/values/ordered-map.js';
import {
  type ChangesPage,
  type ChangesRequest,
  compacted,
  futureRevision,
  type KeyValue,
  type KeyValueStore,
  KvError,
  type KvEvent,
  type KvWatch,
  type KvWatchReceiver,
  type RangeRequest,
  type RangeResult,
  type WatchKeysRequest,
  type WriteOptions,
  type WriteResult,
} from './kv.js';
import { MemoryExpiry, NO_TIMES_TO_LIVE, type TimesToLive } from './memory-expiry.js';
import { MemoryHistory } from './memory-history.js';
import { WatchHub } from './watch-hub.js';

type State = OrderedMap<KeyValue>;
const NO_BYTES = Buffer.alloc(0);
/** Ends a walk over a part of the state. */
const STOP = { break: true };
/** How often `restore` looks again for what others have changed meanwhile. */
const MAX_RESTORE_PASSES = 5;
/** So many changes are handed to watches together: each batch costs them some work, and takes a millisecond or two. */
const RESTORED_AT_ONCE = 128;

/** How many times to live `restore` sets before it looks whether it has to yield. */
const EXPIRIES_A_STEP = 256;

/** A state that was marked; it stays as it is for as long as somebody keeps it. */
export interface MemorySnapshot {
  readonly revision: number;
  readonly state: State;
  readonly timesToLive: TimesToLive;
}

export interface MemoryStore extends KeyValueStore {
  currentValue(key: string, modRevision: number): Buffer | undefined;
  /** The oldest and the newest revision that can be read. */
  known(): { readonly oldest: number; readonly newest: number };
  snapshot(): MemorySnapshot;
  /**
   * Writes what differs from the snapshot as ordinary changes, which watches receive; answers how many. Keys have as long left
   * to live as they had in the snapshot.
   */
  restore(snapshot: MemorySnapshot): Promise<number>;
}

export interface MemoryOptions {
  readonly clock?: Clock;
  /** The state to begin with, and its revision. */
  readonly from?: MemorySnapshot;
  /** Of the values in the history; when there are more, the older half is dropped. */
  readonly maxHistoryBytes?: number;
}

export function openMemoryStore(options: MemoryOptions = {}): MemoryStore {
  return new InMemory(options);
}

class InMemory implements MemoryStore {
  readonly local = true;
  readonly #hub = new WatchHub();
  readonly #history: MemoryHistory;
  #revision: number;
  #closed = false;
  #state: State;
  /** The past state that was read last: pages of a list are read one after another. */
  #past: { readonly revision: number; readonly state: State } | undefined;
  readonly #expiry: MemoryExpiry;

  constructor({ clock = systemClock, from, maxHistoryBytes = Infinity }: MemoryOptions) {
    this.#revision = from?.revision ?? 1;
    this.#state = from?.state.clone() ?? new OrderedMap();
    this.#history = new MemoryHistory(from?.revision ?? 0, maxHistoryBytes);
    this.#expiry = new MemoryExpiry(clock, (key) => this.#hub.dispatch([this.#put(key, undefined)]));
    const { timesToLive } = from ?? { timesToLive: NO_TIMES_TO_LIVE };
    for (const key of timesToLive.keys()) this.#expiry.set(key, timesToLive.leftMs(key));
  }

  async get(key: string, { revision }: { revision?: number } = {}): Promise<KeyValue | undefined> {
    return this.#at(revision).get(key);
  }

  // hot: every object that is not in the cache's memory
  currentValue(key: string, modRevision: number): Buffer | undefined {
    this.#checkOpen();
    const current = this.#state.get(key);
    return current?.modRevision === modRevision ? current.value : this.#history.valueOf(key, modRevision);
  }

  async range({ start, end, revision, limit = 0, countOnly = false }: RangeRequest): Promise<RangeResult> {
    const state = this.#at(revision);
    const kvs: KeyValue[] = [];
    // Without a visitor the tree counts whole leaves.
    const count = state.forRange(start, end, false);
    if (!countOnly) {
      state.forRange(start, end, false, (_key, kv) => {
        kvs.push(kv);
        return kvs.length === limit ? STOP : undefined;
      });
    }
    return { revision: this.#revision, kvs, count };
  }

  async revision(): Promise<number> {
    this.#checkOpen();
    return this.#revision;
  }

  create(key: string, value: Buffer, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#write(key, 0, value, options);
  }

  update(key: string, modRevision: number, value: Buffer, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#write(key, modRevision, value, options);
  }

  delete(key: string, modRevision: number): Promise<WriteResult> {
    return this.#write(key, modRevision, undefined, {});
  }

  watch(request: WatchKeysRequest, receiver: KvWatchReceiver): KvWatch {
    this.#checkOpen();
    const { prefix, startRevision = this.#revision + 1, previous = false } = request;
    if (startRevision <= this.#history.compacted) {
      const error = compacted(startRevision, this.#history.compacted);
      queueMicrotask(() => receiver.failed(error));
      return { cancel: () => undefined };
    }
    let next = startRevision;
    // The receiver may write, which is then missed as well.
    while (next <= this.#revision) {
      const missed = this.#history.since(next).filter((event) => event.key.startsWith(prefix));
      next = this.#revision + 1;
      if (missed.length > 0) {
        void receiver.events(previous ? missed : missed.map((event) => ({ ...event, previous: undefined })));
      }
    }
    // The hub may still have to dispatch what was handed over here.
    return this.#hub.add({ ...request, startRevision: next }, receiver);
  }

  async changes({ prefix, startRevision, endRevision, maxBytes }: ChangesRequest): Promise<ChangesPage> {
    this.#checkOpen();
    const { compacted: oldest } = this.#history;
    if (startRevision <= oldest) throw compacted(startRevision, oldest);
    const events: KvEvent[] = [];
    let bytes = 0;
    for (const event of this.#history.since(startRevision)) {
      const { revision, key, value, previous } = event;
      if (revision > endRevision) break;
      if (!key.startsWith(prefix)) continue;
      events.push(event);
      bytes += value.length + (previous?.value.length ?? 0);
      if (bytes > maxBytes) return { events, upTo: revision };
    }
    return { events, upTo: endRevision };
  }

  supportsProgressRequests(): boolean {
    return true;
  }

  requestProgress(): boolean {
    this.#hub.progress(this.#revision);
    return true;
  }

  async compact(revision: number): Promise<void> {
    if (revision > this.#revision) throw futureRevision(revision, this.#revision);
    this.#history.compact(revision);
  }

  compactedRevision(): number {
    return this.#history.compacted;
  }

  async sizeBytes(): Promise<number> {
    let bytes = 0;
    for (const kv of this.#state.values()) bytes += kv.key.length + kv.value.length;
    return bytes;
  }

  async health(): Promise<void> {
    this.#checkOpen();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#expiry.stop();
    this.#hub.fail(new KvError('closed', 'the store is closed'));
  }

  known(): { readonly oldest: number; readonly newest: number } {
    return { oldest: Math.max(this.#history.compacted, 1), newest: this.#revision };
  }

  snapshot(): MemorySnapshot {
    this.#checkOpen();
    return { revision: this.#revision, state: this.#state.clone(), timesToLive: this.#expiry.timesToLive() };
  }

  async restore(snapshot: MemorySnapshot): Promise<number> {
    const yielder = new Yielder();
    await this.#restoreTimesToLive(snapshot, yielder);
    let changes = 0;
    for (let pass = 0; pass < MAX_RESTORE_PASSES; pass++) {
      const keys = differences(this.#state, snapshot.state, isAlike);
      if (keys.length === 0) break;
      for (let at = 0; at < keys.length; at += RESTORED_AT_ONCE) {
        // Others write between two batches; nobody does within one.
        this.#checkOpen();
        const batch = keys.slice(at, at + RESTORED_AT_ONCE);
        this.#hub.dispatch(
          batch.map((key) => this.#put(key, snapshot.state.get(key)?.value, snapshot.timesToLive.leftMs(key))),
        );
        await yielder.yieldIfDue();
      }
      changes += keys.length;
    }
    return changes;
  }

  /** Of the keys that are as they were: those have no change to come with. */
  async #restoreTimesToLive({ state, timesToLive }: MemorySnapshot, yielder: Yielder): Promise<void> {
    const keys = new Set([...this.#expiry.timesToLive().keys(), ...timesToLive.keys()]);
    let done = 0;
    for (const key of keys) {
      const current = this.#state.get(key);
      const marked = state.get(key);
      if (current !== undefined && marked !== undefined && isAlike(current, marked)) {
        this.#expiry.set(key, timesToLive.leftMs(key));
      }
      if (++done % EXPIRIES_A_STEP === 0) await yielder.yieldIfDue();
    }
  }

  #at(revision: number | undefined): State {
    this.#checkOpen();
    if (revision === undefined || revision === 0 || revision === this.#revision) return this.#state;
    if (revision > this.#revision) throw futureRevision(revision, this.#revision);
    if (revision < this.#history.compacted) throw compacted(revision, this.#history.compacted);
    if (this.#past?.revision !== revision) this.#past = { revision, state: this.#undone(revision) };
    return this.#past.state;
  }

  #undone(revision: number): State {
    const state = this.#state.clone();
    for (const { key, previous } of this.#history.since(revision + 1).reverse()) {
      if (previous === undefined) state.delete(key);
      else state.set(key, previous);
    }
    return state;
  }

  async #write(
    key: string,
    expected: number,
    value: Buffer | undefined,
    { ttlSeconds = 0 }: WriteOptions,
  ): Promise<WriteResult> {
    this.#checkOpen();
    const current = this.#state.get(key);
    if ((current?.modRevision ?? 0) !== expected) return { done: false, revision: this.#revision, current };
    const event = this.#put(key, value, ttlSeconds > 0 ? ttlSeconds * 1000 : undefined);
    this.#hub.dispatch([event]);
    return { done: true, revision: event.revision };
  }

  /** The change is made; its event is to be handed to watches. */
  #put(key: string, value: Buffer | undefined, leftMs?: number): KvEvent {
    const current = this.#state.get(key);
    const revision = this.#revision + 1;
    const createRevision = value === undefined ? 0 : (current?.createRevision ?? revision);
    if (value === undefined) this.#state.delete(key);
    else this.#state.set(key, { key, value, modRevision: revision, createRevision });
    const event: KvEvent = {
      type: value === undefined ? 'delete' : 'put',
      key,
      revision,
      value: value ?? NO_BYTES,
      createRevision,
      previous: current,
    };
    this.#revision = revision;
    this.#history.add(event);
    this.#expiry.set(key, value === undefined ? undefined : leftMs);
    return event;
  }

  #checkOpen(): void {
    if (this.#closed) throw new KvError('closed', 'the store is closed');
  }
}

const isAlike = (one: KeyValue, other: KeyValue): boolean =>
  one.modRevision === other.modRevision || one.value.equals(other.value);
