// The embedded store in a process that does not have it. The process that has it (owner.ts) sends everything that happens, and answers
// no writer before this process has received its change. So this store is as good as a local one for whoever watches: what its
// watches have received is never behind what anybody was answered, as long as the lease lasts (lease.ts) and nothing is held back.
import type { Duplex } from 'node:stream';
import { type Clock, monotonicClock } from '../../lib/async/clock.js';
import { withTimeout } from '../../lib/async/with-timeout.js';
import { TransientMap } from '../../lib/values/transient-map.js';
import {
  type ChangesPage,
  type ChangesRequest,
  compacted,
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
} from '../kv.js';
import { readResult, writeArguments, type WriteCall } from './calls.js';
import type { FrameReader } from './frames.js';
import { HeldEvents } from './held-events.js';
import { METHOD, readEvent, TO_REPLICA } from './messages.js';
import { OwnerLink, unavailable } from './owner-link.js';
import { ReplicaWatches } from './replica-watches.js';

/** How long a read waits for a lease and for what is held back. */
const CURRENT_WITHIN_MS = 10_000;

export interface ReplicaOptions {
  readonly connect: () => Promise<Duplex>;
  /** Of this process. */
  readonly pid: number;
  readonly clock?: Clock;
}

/** Resolves when the owner is reached. */
export async function openReplicaStore(options: ReplicaOptions): Promise<KeyValueStore> {
  const store = new ReplicaStore(options);
  await store.welcomed;
  return store;
}

class ReplicaStore implements KeyValueStore {
  readonly local = true;
  readonly welcomed: Promise<void>;
  olderRevision = 0;
  readonly #watches: ReplicaWatches;
  readonly #held = new HeldEvents();
  readonly #link: OwnerLink;
  readonly #clock: Clock;
  /** This process's own writes that are under way, by the ids of their calls. */
  readonly #writes = new TransientMap<number, WriteCall>();
  #compacted = 0;
  #closed = false;
  #onWelcome: () => void = () => undefined;

  constructor({ connect, pid, clock = monotonicClock }: ReplicaOptions) {
    this.#clock = clock;
    this.#watches = new ReplicaWatches({
      released: () => this.#held.released,
      compactedRevision: () => this.#compacted,
      changes: (request) => this.changes(request),
    });
    this.welcomed = new Promise((resolve) => (this.#onWelcome = resolve));
    this.#link = new OwnerLink({
      connect,
      pid,
      clock,
      released: () => this.#held.released,
      receive: (frame) => this.#receive(frame),
      received: () => this.#acknowledge(),
      lost: () => this.#held.drop(),
    });
  }

  async get(key: string, { revision = 0 }: { readonly revision?: number } = {}): Promise<KeyValue | undefined> {
    this.#checkOpen();
    return this.#read(METHOD.get, (out) => writeArguments.get(out, key, revision), readResult.get);
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    this.#checkOpen();
    return this.#read(METHOD.range, (out) => writeArguments.range(out, request), readResult.range);
  }

  async revision(): Promise<number> {
    this.#checkOpen();
    if (!this.isBehind('')) return this.#held.released;
    return withTimeout(this.#current(), {
      ms: CURRENT_WITHIN_MS,
      clock: this.#clock,
      onTimeout: () => {
        throw unavailable('it did not answer in time');
      },
    });
  }

  async #current(): Promise<number> {
    await this.#link.whenLeased();
    await this.#held.whenReleased(this.#held.received);
    await this.#watches.caughtUp();
    return this.#held.released;
  }

  // hot: every consistent read
  isBehind(prefix: string): boolean {
    return !this.#link.hasLease || this.#held.has(prefix) || this.#watches.isBehind(prefix);
  }

  create(key: string, value: Buffer, { ttlSeconds = 0 }: WriteOptions = {}): Promise<WriteResult> {
    return this.#write({ key, expected: 0, value, ttlSeconds });
  }

  update(key: string, expected: number, value: Buffer, { ttlSeconds = 0 }: WriteOptions = {}): Promise<WriteResult> {
    return this.#write({ key, expected, value, ttlSeconds });
  }

  delete(key: string, expected: number): Promise<WriteResult> {
    return this.#write({ key, expected, value: undefined, ttlSeconds: 0 });
  }

  watch(request: WatchKeysRequest, receiver: KvWatchReceiver): KvWatch {
    this.#checkOpen();
    return this.#watches.add(request, receiver);
  }

  async changes({ signal, ...request }: ChangesRequest): Promise<ChangesPage> {
    this.#checkOpen();
    const page = await this.#read(METHOD.changes, (out) => writeArguments.changes(out, request), readResult.changes);
    signal?.throwIfAborted();
    return page;
  }

  supportsProgressRequests(): boolean {
    return true;
  }

  requestProgress(): boolean {
    this.#watches.progress();
    return true;
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    await this.#read(METHOD.compact, (out) => out.number(revision), readResult.nothing);
    this.#compacted = Math.max(this.#compacted, revision);
  }

  compactedRevision(): number {
    return this.#compacted;
  }

  async sizeBytes(): Promise<number> {
    this.#checkOpen();
    return this.#read(METHOD.size, NO_ARGUMENTS, readResult.number);
  }

  async health({ timeoutMs }: { readonly timeoutMs: number }): Promise<void> {
    this.#checkOpen();
    await withTimeout(this.#read(METHOD.health, NO_ARGUMENTS, readResult.nothing), {
      ms: timeoutMs,
      clock: this.#clock,
      onTimeout: () => {
        throw new KvError('unavailable', 'context deadline exceeded');
      },
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#link.close();
    this.#watches.fail(new KvError('closed', 'the store is closed'));
  }

  #read<T>(
    method: number,
    write: (out: Parameters<typeof writeArguments.range>[0]) => void,
    read: (frame: FrameReader) => T,
  ): Promise<T> {
    const call = this.#link.call({
      write: (out) => {
        out.number(method);
        write(out);
      },
      read,
      isRepeatable: true,
    });
    return call.result;
  }

  // hot: every write
  async #write(call: WriteCall): Promise<WriteResult> {
    this.#checkOpen();
    const { id, result } = this.#link.call({
      write: (out) => {
        out.number(METHOD.write);
        writeArguments.write(out, call);
      },
      read: readResult.write,
      isRepeatable: false,
    });
    this.#writes.set(id, call);
    try {
      return await result;
    } finally {
      this.#writes.delete(id);
    }
  }

  #receive(frame: FrameReader): void {
    switch (frame.type) {
      case TO_REPLICA.events:
        return this.#hold(frame);
      case TO_REPLICA.release: {
        const revision = frame.number();
        this.#compacted = frame.number();
        return this.#held.release(revision, (events) => this.#watches.dispatch(events));
      }
      case TO_REPLICA.welcome: {
        const revision = frame.number();
        this.#compacted = frame.number();
        this.olderRevision = frame.number();
        this.#held.release(revision, (events) => this.#watches.dispatch(events));
        this.#link.welcome();
        return this.#onWelcome();
      }
      case TO_REPLICA.tooOld: {
        const oldest = frame.number();
        this.#held.reset();
        this.#watches.fail(compacted(0, oldest));
        return this.#link.hello(0);
      }
    }
  }

  #hold(frame: FrameReader): void {
    const revision = frame.number();
    const events: KvEvent[] = [];
    while (frame.hasMore) {
      const event = readEvent(frame);
      if (!('call' in event)) {
        events.push(event);
        continue;
      }
      const { key, value } = this.#writes.get(event.call) ?? {};
      if (key === undefined || value === undefined) throw new KvError('unavailable', 'an event of an unknown write');
      events.push({ type: 'put', key, value, ...event, previous: undefined });
    }
    this.#held.hold(revision, events);
  }

  #acknowledge(): void {
    const { received, acknowledged } = this.#held;
    if (received === acknowledged) return;
    this.#held.acknowledged = received;
    this.#link.acknowledge(received);
  }

  #checkOpen(): void {
    if (this.#closed) throw new KvError('closed', 'the store is closed');
  }
}

const NO_ARGUMENTS = (): void => undefined;
