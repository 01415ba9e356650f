// The store for unit tests: everything in memory, every past state kept as a snapshot until it is compacted.
import { type Clock, systemClock } from '../lib/async/clock.js';
import { OrderedMap } from '../lib/values/ordered-map.js';
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
import { WatchHub } from './watch-hub.js';

type State = OrderedMap<KeyValue>;
const NO_BYTES = Buffer.alloc(0);

export function openMemoryStore({ clock = systemClock }: { clock?: Clock } = {}): KeyValueStore {
  return new MemoryStore(clock);
}

class MemoryStore implements KeyValueStore {
  readonly local = true;
  readonly #clock: Clock;
  readonly #hub = new WatchHub();
  #revision = 1;
  #compacted = 0;
  #closed = false;
  #state: State = new OrderedMap();
  readonly #past = new Map<number, State>();
  #log: KvEvent[] = [];
  readonly #expiries = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async get(key: string, { revision }: { revision?: number } = {}): Promise<KeyValue | undefined> {
    return this.#at(revision).get(key);
  }

  async range({ start, end, revision, limit = 0, countOnly = false }: RangeRequest): Promise<RangeResult> {
    const state = this.#at(revision);
    const kvs: KeyValue[] = [];
    const count = state.forRange(start, end, false, (_key, kv) => {
      if (!countOnly && (limit === 0 || kvs.length < limit)) kvs.push(kv);
    });
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
    if (startRevision <= this.#compacted) {
      const error = compacted(startRevision, this.#compacted);
      queueMicrotask(() => receiver.failed(error));
      return { cancel: () => undefined };
    }
    const missed = this.#log.filter((event) => event.revision >= startRevision && event.key.startsWith(prefix));
    if (missed.length > 0) {
      void receiver.events(previous ? missed : missed.map((event) => ({ ...event, previous: undefined })));
    }
    return this.#hub.add(request, receiver);
  }

  async changes({ prefix, startRevision, endRevision, maxBytes }: ChangesRequest): Promise<ChangesPage> {
    this.#checkOpen();
    if (startRevision <= this.#compacted) throw compacted(startRevision, this.#compacted);
    const events: KvEvent[] = [];
    let bytes = 0;
    for (const event of this.#log) {
      const { revision, key, value, previous } = event;
      if (revision < startRevision || !key.startsWith(prefix)) continue;
      if (revision > endRevision) break;
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
    if (revision <= this.#compacted) return;
    this.#compacted = revision;
    for (const past of this.#past.keys()) if (past < revision) this.#past.delete(past);
    this.#log = this.#log.filter((event) => event.revision > revision);
  }

  compactedRevision(): number {
    return this.#compacted;
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
    for (const cancel of this.#expiries) cancel();
    this.#hub.fail(new KvError('closed', 'the store is closed'));
  }

  #at(revision: number | undefined): State {
    this.#checkOpen();
    if (revision === undefined || revision === 0 || revision === this.#revision) return this.#state;
    if (revision > this.#revision) throw futureRevision(revision, this.#revision);
    if (revision < this.#compacted) throw compacted(revision, this.#compacted);
    return this.#past.get(revision) ?? new OrderedMap();
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
    this.#past.set(this.#revision, this.#state.clone());
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
    this.#log.push(event);
    this.#revision = revision;
    this.#hub.dispatch([event]);
    if (value !== undefined && ttlSeconds > 0) this.#expire(key, revision, ttlSeconds);
    return { done: true, revision };
  }

  #expire(key: string, modRevision: number, ttlSeconds: number): void {
    const cancel = this.#clock.after(ttlSeconds * 1000, () => {
      this.#expiries.delete(cancel);
      if (!this.#closed) void this.delete(key, modRevision);
    });
    this.#expiries.add(cancel);
  }

  #checkOpen(): void {
    if (this.#closed) throw new KvError('closed', 'the store is closed');
  }
}
