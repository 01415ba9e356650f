// etcd v3 under the key-value contract.
import type { Logger } from '../../lib/telemetry/log.js';
import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, systemClock } from '../../lib/async/clock.js';
import { pause } from '../../lib/async/pause.js';
import { withTimeout } from '../../lib/async/with-timeout.js';
import { withSignal } from '../../outbound/with-signal.js';
import {
  type ChangesPage,
  type ChangesRequest,
  type KeyValue,
  type KeyValueStore,
  KvError,
  type KvWatch,
  type KvWatchReceiver,
  type RangeRequest,
  type RangeResult,
  type WatchKeysRequest,
  type WriteOptions,
  type WriteResult,
} from '../kv.js';
import type { Trace } from '../../tracing/trace.js';
import { EtcdHistory } from './changes.js';
import { callEtcd, type CallOptions, leaseIsGone, METHODS } from './client.js';
import { Compactor } from './compactor.js';
import { connectMember, type ConnectOptions } from './connect.js';
import { Endpoints } from './endpoints.js';
import { LatestRevision } from './latest-revision.js';
import { Leases } from './leases.js';
import { watchAlone } from './lone-watch.js';
import {
  decodeLeaseGrant,
  decodeRange,
  decodeStatus,
  decodeTxn,
  encodeCompaction,
  encodeLeaseGrant,
  encodeRange,
  encodeTxn,
  type EtcdRange,
  type EtcdRangeAnswer,
  type EtcdTxn,
  type EtcdTxnAnswer,
} from './messages.js';
import { OwnWrites } from './own-writes.js';
import { SharedWatches } from './shared-watches.js';
import { EtcdWatches } from './watches.js';

const BETWEEN_CONNECTIONS_MS = 200;

export interface EtcdOptions extends ConnectOptions {
  /** `https://host:port`, `http://…`, or `unix://PATH`. */
  readonly servers: readonly string[];
  /** Where health is probed, `/registry` by default. */
  readonly prefix?: string;
  /** 0 leaves compaction to others. */
  readonly compactionIntervalMs?: number;
  readonly leaseReuseSeconds?: number;
  readonly clock?: Clock;
  readonly log?: Logger;
}

/** Opens at once; servers that cannot be reached yet are waited for by the calls. */
export function openEtcdStore(options: EtcdOptions): KeyValueStore {
  return new EtcdStore(options);
}

class EtcdStore implements KeyValueStore {
  readonly local = false;
  readonly #endpoints: Endpoints;
  readonly #watches: EtcdWatches;
  readonly #sharedWatches: SharedWatches;
  readonly #leases: Leases;
  readonly #compactor: Compactor;
  readonly #history: EtcdHistory;
  readonly #healthKey: string;
  readonly #latestRevision: LatestRevision;
  readonly #ownWrites = new OwnWrites();
  /** The highest revision any answer carried. */
  #seenRevision = 0;
  /** Whether progress requests can be trusted; unknown until the version is. */
  #progress: boolean | undefined;
  /** The highest revision that a compaction, or a read of history that was refused, was about. */
  #seenCompacted = 0;
  #closed = false;

  constructor(options: EtcdOptions) {
    const clock = options.clock ?? systemClock;
    this.#latestRevision = new LatestRevision({ ask: () => this.#fetchRevision(), clock });
    this.#endpoints = new Endpoints({
      servers: options.servers,
      connect: (url) => connectMember(url, options, { onFlush: () => this.#latestRevision.departed() }),
      clock,
      pause: delay,
    });
    this.#watches = new EtcdWatches(this.#endpoints, clock, options.log);
    this.#sharedWatches = new SharedWatches(
      (keys, receiver) => this.#watches.add(keys, receiver),
      () => this.compactedRevision(),
    );
    this.#healthKey = `${options.prefix ?? '/registry'}/health`;
    this.#leases = new Leases({
      grant: async (ttlSeconds) => {
        const message = encodeLeaseGrant(ttlSeconds);
        return decodeLeaseGrant(await callEtcd(this.#endpoints, METHODS.leaseGrant, message, { repeatable: true }));
      },
      reuseSeconds: options.leaseReuseSeconds ?? 60,
      clock,
    });
    this.#compactor = new Compactor({
      txn: (txn) => this.#txn(txn),
      compact: (revision) => this.#compact(revision),
      clock,
      intervalMs: options.compactionIntervalMs ?? 0,
      log: options.log,
    });
    this.#history = new EtcdHistory({
      watch: (request, receiver) => watchAlone(this.#endpoints, request, receiver),
      clock,
    });
    this.#learnVersion().catch(() => undefined);
  }

  async get(
    key: string,
    { revision = 0, trace }: { revision?: number; trace?: Trace | undefined } = {},
  ): Promise<KeyValue | undefined> {
    return (await this.#range({ key, revision }, { trace })).kvs[0];
  }

  async range({ start, end, revision, limit, countOnly, trace }: RangeRequest): Promise<RangeResult> {
    return this.#range({ key: start, end, revision, limit, countOnly }, { trace });
  }

  // hot: every consistent read
  revision(trace?: Trace): Promise<number> {
    // A traced read has its own request: a shared one could not be recorded in its span.
    return trace?.span === undefined ? this.#latestRevision.get() : this.#fetchRevision(trace);
  }

  async #fetchRevision(trace?: Trace): Promise<number> {
    return (await this.#range({ key: this.#healthKey, countOnly: true }, { trace })).revision;
  }

  create(key: string, value: Buffer, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#put(key, 0, value, options);
  }

  update(key: string, modRevision: number, value: Buffer, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#put(key, modRevision, value, options);
  }

  async delete(key: string, modRevision: number, trace?: Trace): Promise<WriteResult> {
    return writeResult(await this.#txn({ key, modRevision }, trace));
  }

  watch({ prefix, startRevision = 0, previous = false }: WatchKeysRequest, receiver: KvWatchReceiver): KvWatch {
    this.#checkOpen();
    // "From now" is from what this client has seen: an answered write of ours before this call is not in it.
    const from = startRevision > 0 ? startRevision : this.#seenRevision + 1;
    if (from > 1) return this.#sharedWatches.add({ prefix, startRevision: from, previous }, receiver);
    let watch: KvWatch | undefined;
    let canceled = false;
    this.revision().then(
      (revision) => {
        if (!canceled) watch = this.#sharedWatches.add({ prefix, startRevision: revision + 1, previous }, receiver);
      },
      (error: unknown) => receiver.failed(error instanceof KvError ? error : new KvError('unavailable', String(error))),
    );
    return {
      cancel: () => {
        canceled = true;
        watch?.cancel();
      },
    };
  }

  isUnchanged(prefix: string, after: number, upTo: number): boolean {
    return this.#ownWrites.areElsewhere(prefix, after, upTo);
  }

  /** Only where progress can be trusted: nothing else says that a page is whole. */
  get changes(): ((request: ChangesRequest) => Promise<ChangesPage>) | undefined {
    return this.supportsProgressRequests() ? (request) => this.#changes(request) : undefined;
  }

  async #changes(request: ChangesRequest): Promise<ChangesPage> {
    this.#checkOpen();
    try {
      return await this.#history.changes(request);
    } catch (error) {
      if (error instanceof KvError && error.code === 'compacted') {
        this.#seenCompacted = Math.max(this.#seenCompacted, error.details.compactedRevision ?? 0);
      }
      throw error;
    }
  }

  supportsProgressRequests(): boolean {
    // The first attempt to learn etcd's version failed, so this call starts another.
    if (this.#progress === undefined) this.#learnVersion().catch(() => undefined);
    return this.#progress === true;
  }

  requestProgress(): boolean {
    if (!this.supportsProgressRequests()) return false;
    this.#watches.requestProgress();
    return true;
  }

  compact(revision: number): Promise<void> {
    return this.#compact(revision);
  }

  compactedRevision(): number {
    return Math.max(this.#compactor.compactedRevision, this.#seenCompacted);
  }

  async sizeBytes(): Promise<number> {
    return (await this.#status()).dbSizeBytes;
  }

  reached(withinMs: number): Promise<boolean> {
    const late = AbortSignal.timeout(withinMs);
    // A server that accepts the connection and never answers counts as unreachable.
    return withSignal(this.#connected(late), late).catch(() => false);
  }

  async #connected(late: AbortSignal): Promise<boolean> {
    while (!late.aborted) {
      try {
        await this.#endpoints.member();
        return true;
      } catch {
        await pause(BETWEEN_CONNECTIONS_MS, late);
      }
    }
    return false;
  }

  async health({ timeoutMs }: { timeoutMs: number }): Promise<void> {
    this.#checkOpen();
    await withTimeout(this.#range({ key: this.#healthKey }, { timeoutMs }), {
      ms: timeoutMs,
      onTimeout: () => {
        throw new KvError('unavailable', 'context deadline exceeded');
      },
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#compactor.stop();
    this.#watches.close();
    this.#endpoints.close();
  }

  async #put(
    key: string,
    modRevision: number,
    value: Buffer,
    { ttlSeconds = 0, trace }: WriteOptions,
  ): Promise<WriteResult> {
    if (ttlSeconds <= 0) return writeResult(await this.#txn({ key, modRevision, put: { value } }, trace));
    try {
      const lease = await this.#leases.get(ttlSeconds);
      return writeResult(await this.#txn({ key, modRevision, put: { value, lease } }, trace));
    } catch (error) {
      if (!leaseIsGone(error)) throw error;
      this.#leases.forget();
      const lease = await this.#leases.get(ttlSeconds);
      return writeResult(await this.#txn({ key, modRevision, put: { value, lease } }, trace));
    }
  }

  #range(range: EtcdRange, options: Omit<CallOptions, 'repeatable'> = {}): Promise<EtcdRangeAnswer> {
    return this.#send(METHODS.range, encodeRange(range), decodeRange, { ...options, repeatable: true });
  }

  async #txn(txn: EtcdTxn, trace?: Trace): Promise<EtcdTxnAnswer> {
    const answer = await this.#send(METHODS.txn, encodeTxn(txn), decodeTxn, { repeatable: false, trace });
    // A delete of what is not there is no write: its answer has the revision of somebody else's.
    const isWrite = txn.put !== undefined || (txn.modRevision ?? 0) > 0;
    if (answer.succeeded && isWrite) this.#ownWrites.add(answer.revision, txn.key);
    return answer;
  }

  /** A request through etcd's consensus: reads that wait for the latest revision have it from any such answer. */
  async #send<T extends { readonly revision: number }>(
    method: string,
    message: Buffer,
    decode: (answer: Buffer) => T,
    options: CallOptions,
  ): Promise<T> {
    this.#checkOpen();
    const departure = this.#latestRevision.leaves();
    try {
      const answer = decode(await callEtcd(this.#endpoints, method, message, options));
      this.#saw(answer.revision);
      this.#latestRevision.answered(departure, answer.revision);
      return answer;
    } catch (error) {
      this.#latestRevision.failed(departure);
      throw error;
    }
  }

  async #compact(revision: number): Promise<void> {
    try {
      await callEtcd(this.#endpoints, METHODS.compact, encodeCompaction(revision), { repeatable: true });
    } catch (error) {
      // Someone was faster.
      if (!(error instanceof KvError && error.code === 'compacted')) throw error;
    }
    this.#seenCompacted = Math.max(this.#seenCompacted, revision);
  }

  async #status(): Promise<ReturnType<typeof decodeStatus>> {
    this.#checkOpen();
    return decodeStatus(await callEtcd(this.#endpoints, METHODS.status, Buffer.alloc(0), { repeatable: true }));
  }

  async #learnVersion(): Promise<void> {
    const { version, revision } = await this.#status();
    this.#saw(revision);
    this.#progress = progressIsReliable(version);
  }

  #saw(revision: number): void {
    if (revision > this.#seenRevision) this.#seenRevision = revision;
  }

  #checkOpen(): void {
    if (this.#closed) throw new KvError('closed', 'the store is closed');
  }
}

const writeResult = ({ succeeded, revision, current }: EtcdTxnAnswer): WriteResult =>
  succeeded ? { done: true, revision } : { done: false, revision, current };

/** Before these versions an answer to a progress request may overtake events it should follow. */
function progressIsReliable(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  if (major !== 3) return major > 3;
  if (minor === 4) return patch >= 31;
  if (minor === 5) return patch >= 13;
  return minor > 5;
}
