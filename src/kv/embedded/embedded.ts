// The embedded store: in this process, on disk, multi-version, every answered write synced.
import type { Logger } from '../../lib/telemetry/log.js';
import type * as Lmdb from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { type Clock, systemClock } from '../../lib/async/clock.js';
import { runSync, runCooperatively, type StepGenerator, Yielder } from '../../lib/scheduling/yield.js';
import {
  type ChangesPage,
  type ChangesRequest,
  compacted,
  futureRevision,
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
import { WatchHub } from '../watch-hub.js';
import type { WriteZeros } from './allocation.js';
import { backUp } from './back-up.js';
import { byteKeyOf, bytePrefixEnd } from './byte-key.js';
import { type Change, eventOf, foundKeyValue, keyValueOf } from './change.js';
import { type ChangesInRange, changesSteps, type PageOfChanges } from './changes.js';
import type { CommitHold } from './commit-hold.js';
import { Commits, type Transaction, type TransactionResult } from './commits.js';
import { damaged, type DataFolder, openFailure, openFolder } from './folder.js';
import { Housekeeping } from './housekeeping.js';
import { DamagedHistory, engineText } from './damage.js';
import { Leases } from './leases.js';
import type { Mvcc, MvccRange } from './mvcc.js';
import { type OpenedTables, openTables } from './open-tables.js';
import {
  isTooLong,
  MAX_KEY_BYTES,
  get,
  getAt,
  type KeyRange,
  rangeAt,
  rangeSteps,
  replacedSince,
  type Tables,
  viewAt,
} from './past.js';
import { RangeHub } from './range-hub.js';
import { diskFreeBytes, type FreeBytes } from './reserve.js';
import { Room } from './room.js';
import { newestRevision } from './state.js';
import { Successors } from './successors.js';
import { writeKey } from './write-key.js';

const MAX_VALUE_BYTES = 8 * 1024 * 1024;
const HISTORY_MS = 5 * 60_000;
/** Addresses, not memory. When the file outgrows them the engine maps it anew, and the old map stays in memory too. */
const MAP_BYTES = 8 * 1024 ** 3;
const HAS_FEW_ADDRESSES: ReadonlySet<string> = new Set(['arm', 'ia32', 'mips', 'mipsel']);

export interface EmbeddedOptions {
  /** The data folder; made when it is missing. */
  readonly folder: string;
  readonly clock?: Clock;
  /** Names the build that writes: what another wrote is known by it. */
  readonly writer?: string;
  /** How long past revisions are kept; 0 keeps them until compacted by hand or too many. */
  readonly historyMs?: number;
  /** What an operator is to know: that the file is damaged, or the disk full. */
  readonly log?: Logger;
  /** Of the disk that the folder is on. */
  readonly freeBytes?: FreeBytes;
  /** A write is answered before it is on disk: what the machine loses with its power was answered in vain. */
  readonly noSync?: boolean;
  /** What adds something is refused where more would be in use than this; absent: where the disk is full. */
  readonly quotaBytes?: number | undefined;
  readonly writeZeros?: WriteZeros;
}

export interface EmbeddedStore extends KeyValueStore {
  readonly mvcc: Mvcc;
  /** From now on a commit is known when this releases it. */
  holdCommits(hold: CommitHold): void;
}

export async function openEmbeddedStore(options: EmbeddedOptions): Promise<EmbeddedStore> {
  // The engine is a native module; it is loaded only where it is used.
  const { open } = await import('lmdb');
  const { clock = systemClock, log, freeBytes = diskFreeBytes, quotaBytes, writeZeros } = options;
  const folder = await openFolder(options.folder, freeBytes).catch((error: unknown) => {
    throw openFailure(options.folder, error);
  });
  let env: RootDatabase | undefined;
  let room: Room | undefined;
  try {
    env = openEngine(open, folder.storePath, { noSync: options.noSync === true });
    const { path, storePath } = folder;
    room = new Room({ env, folder: path, storePath, freeBytes, quotaBytes, writeZeros, now: () => clock.now(), log });
    const opened = await openTables(env, folder, room, options.writer ?? '');
    room.tables = opened.tables;
    return new LmdbStore({ env, opened, folder, room, clock, log, historyMs: options.historyMs ?? HISTORY_MS });
  } catch (error) {
    // Without this the engine would reuse its open environment when the folder is opened again.
    await env?.close();
    await room?.close();
    await folder.release();
    throw openFailure(options.folder, error);
  }
}

/** `readOnly`: nothing is written, not even what is missing. */
export const openEngine = (
  open: typeof Lmdb.open,
  file: string,
  { readOnly = false, noSync = false }: { readonly readOnly?: boolean; readonly noSync?: boolean } = {},
): RootDatabase =>
  open({
    path: file,
    readOnly,
    noSync,
    noSubdir: true,
    overlappingSync: false,
    // Commits are batched here; the engine's own batching per event-loop turn leaves a rejection unhandled on a full disk.
    eventTurnBatching: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    compression: false,
    cache: false,
    maxDbs: 8,
    ...(HAS_FEW_ADDRESSES.has(process.arch) ? {} : { mapSize: MAP_BYTES }),
  });

const closed = (): KvError => new KvError('closed', 'the store is closed');

class LmdbStore implements EmbeddedStore {
  readonly local = true;
  readonly olderRevision: number;
  readonly #env: RootDatabase;
  readonly #tables: Tables;
  readonly #folder: DataFolder;
  readonly mvcc: Mvcc;
  readonly #hub = new WatchHub();
  readonly #ranges = new RangeHub();
  readonly #commits: Commits;
  readonly #housekeeping: Housekeeping;
  readonly #room: Room;
  readonly #log: Logger | undefined;
  /** Why the file cannot be read, once that was seen. */
  #damage: KvError | undefined;
  readonly #successors = new Successors(() => this.#housekeeping.compacted);
  #closed = false;

  constructor(parts: {
    readonly env: RootDatabase;
    readonly opened: OpenedTables;
    readonly folder: DataFolder;
    readonly room: Room;
    readonly clock: Clock;
    readonly log: Logger | undefined;
    readonly historyMs: number;
  }) {
    const { env, folder, room, clock, historyMs } = parts;
    const { tables, revision, compacted: oldest, totals, olderRevision } = parts.opened;
    this.#env = env;
    this.#tables = tables;
    this.olderRevision = olderRevision;
    this.#folder = folder;
    this.#log = parts.log;
    this.#room = room;
    const dispatch = (changes: readonly Change[]): void => {
      this.#hub.dispatch(changes.map(eventOf));
      this.#ranges.dispatch(changes);
    };
    const leases = new Leases(tables, clock);
    const readFailure = this.#readFailure.bind(this);
    const { path: folderPath } = folder;
    this.#commits = new Commits({
      env,
      tables,
      folder: folderPath,
      clock,
      room,
      leases,
      dropHistory: (upTo) => this.#housekeeping.drop(upTo),
      revision,
      totals,
      dispatch,
      readFailure,
    });
    const commits = this.#commits;
    this.#housekeeping = new Housekeeping({
      env,
      tables,
      commits,
      clock,
      compacted: oldest,
      leases,
      historyMs,
      room,
      failed: (error) => void readFailure(error),
    });
    this.mvcc = this.#mvcc(leases);
  }

  #mvcc(leases: Leases): Mvcc {
    const commits = this.#commits;
    const housekeeping = this.#housekeeping;
    const room = this.#room;
    return {
      get revision() {
        return commits.revision;
      },
      get compacted() {
        return housekeeping.compacted;
      },
      get isFull() {
        return room.isFull;
      },
      leases,
      size: () => {
        this.#checkOpen();
        return room.size();
      },
      transact: (transaction) => this.#transact(transaction),
      get: (key) => {
        const revision = this.#startRead(0);
        return { revision, version: this.#reading(revision, () => get(this.#tables, key)) };
      },
      range: (range, revision) => this.#rangeAt(range, revision),
      changes: (request) => runCooperatively(this.#changes(request, this.#successors)),
      follow: (request, receive) => this.#ranges.add(request, receive),
    };
  }

  #transact<T>(transaction: Transaction<T>): Promise<TransactionResult<T>> {
    return this.#closed ? Promise.reject(closed()) : this.#commits.transact(transaction);
  }

  holdCommits(hold: CommitHold): void {
    this.#commits.hold = hold;
  }

  async get(key: string, { revision = 0 }: { revision?: number } = {}): Promise<KeyValue | undefined> {
    const newest = this.#startRead(revision);
    const byteKey = byteKeyOf(key);
    const version = this.#reading(revision + 1, () =>
      revision === 0 ? get(this.#tables, byteKey) : getAt(this.#tables, byteKey, revision),
    );
    // What was read is on disk, and not known to every process yet.
    const released = this.#commits.hold?.released(revision === 0 ? newest : revision);
    if (released !== undefined) await released;
    return version && keyValueOf(key, version);
  }

  // hot: every object that is not in memory
  currentValue(key: string, modRevision: number): Buffer | undefined {
    this.#checkOpen();
    try {
      const byteKey = byteKeyOf(key);
      return viewAt(this.#tables, byteKey, modRevision) ?? this.#valueElsewhere(byteKey, modRevision);
    } catch (error) {
      throw this.#readFailure(error);
    }
  }

  /** The engine's read snapshot of this event-loop turn may predate the version, or include a commit not yet dispatched. */
  #valueElsewhere(key: string, modRevision: number): Buffer | undefined {
    this.#env.resetReadTxn();
    const { revision } = this.#commits;
    return (
      viewAt(this.#tables, key, modRevision) ??
      replacedSince(this.#tables, key, modRevision, revision) ??
      // For a watch that has stopped listening: a long way, which nobody goes twice.
      replacedSince(this.#tables, key, modRevision, modRevision)
    );
  }

  async range({ start, end, revision = 0, limit = 0, countOnly = false }: RangeRequest): Promise<RangeResult> {
    const range = { start: byteKeyOf(start), end: byteKeyOf(end), limit, countOnly, make: foundKeyValue };
    return this.#rangeAt(range, revision);
  }

  async #rangeAt<T>(range: KeyRange<T>, revision: number): Promise<MvccRange<T>> {
    const newest = this.#startRead(revision);
    if (revision === 0 || revision === newest) {
      const read = this.#reading(newest, () => ({ revision: newest, ...rangeAt(this.#tables, range) }));
      const released = this.#commits.hold?.released(newest);
      if (released !== undefined) await released;
      return read;
    }
    const found = await runCooperatively(
      this.#whileOpen(rangeSteps(this.#env, this.#tables, range, revision), revision + 1),
    );
    // Its log may have been dropped while it was read.
    const oldest = this.#housekeeping.compacted;
    if (revision < oldest) throw compacted(revision, oldest);
    return found;
  }

  async revision(): Promise<number> {
    return this.#newest();
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
    const { revision } = this.#commits;
    const { prefix, startRevision = revision + 1, previous = false } = request;
    if (startRevision <= this.#housekeeping.compacted) {
      const error = compacted(startRevision, this.#housekeeping.compacted);
      queueMicrotask(() => receiver.failed(error));
      return { cancel: () => undefined };
    }
    const live = (from: number): KvWatch => this.#hub.add({ prefix, previous, startRevision: from }, receiver);
    if (startRevision > revision) return live(startRevision);
    const missed = this.#changesAtOnce({
      ...byteRangeOf(prefix),
      startRevision,
      endRevision: revision,
      maxBytes: Infinity,
    });
    const wanted = missed.map((change) => eventOf(previous ? change : { ...change, previous: undefined }));
    if (wanted.length > 0) void receiver.events(wanted);
    return live(revision + 1);
  }

  async changes({ prefix, signal, ...request }: ChangesRequest): Promise<ChangesPage> {
    const yielder = new Yielder();
    const steps = this.#changes({ ...request, ...byteRangeOf(prefix) }, this.#successors);
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = steps.next();
      if (done) return { events: value.changes.map(eventOf), upTo: value.upTo };
      await yielder.yieldIfDue();
    }
  }

  supportsProgressRequests(): boolean {
    return true;
  }

  requestProgress(): boolean {
    this.#hub.progress(this.#commits.revision);
    return true;
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    if (revision > this.#commits.revision) throw futureRevision(revision, this.#commits.revision);
    if (revision > this.#housekeeping.compacted) await this.#housekeeping.compact(revision);
  }

  compactedRevision(): number {
    return this.#housekeeping.compacted;
  }

  async sizeBytes(): Promise<number> {
    this.#checkOpen();
    return this.#room.size().bytes;
  }

  async backup(folder: string): Promise<void> {
    this.#checkOpen();
    this.#env.resetReadTxn();
    await backUp(this.#env, folder);
  }

  async health(): Promise<void> {
    this.#checkOpen();
    const failure = this.#damage ?? this.#commits.failure;
    // On a full disk everything can be read, and deleted: as with etcd's alarm that is well, and starting anew would not help.
    if (failure !== undefined && failure.code !== 'disk-full') throw failure;
    this.#onDisk();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#housekeeping.stop();
    await this.#commits.idle();
    this.#hub.fail(closed());
    await this.#room.close();
    await this.#env.close();
    await this.#folder.release();
  }

  *#changes(request: ChangesInRange, successors: Successors): StepGenerator<PageOfChanges> {
    const page = yield* this.#whileOpen(
      changesSteps(this.#env, this.#tables, successors, request),
      request.startRevision,
    );
    // Its log may have been dropped by now.
    const { compacted: oldest } = this.#housekeeping;
    if (request.startRevision <= oldest) throw compacted(request.startRevision, oldest);
    return page;
  }

  #changesAtOnce(request: ChangesInRange): readonly Change[] {
    const changes: Change[] = [];
    // Little has happened, mostly, and the rest of the log need not be read for it.
    const successors = new Successors(() => request.startRevision - 1);
    for (let { startRevision } = request; startRevision <= request.endRevision;) {
      const page = runSync(this.#changes({ ...request, startRevision }, successors));
      for (const change of page.changes) changes.push(change);
      startRevision = page.upTo + 1;
    }
    return changes;
  }

  /** Checks before each step that the engine is open. `from` is the first revision of the log that is read. */
  *#whileOpen<T>(steps: StepGenerator<T>, from: number): StepGenerator<T> {
    for (;;) {
      this.#checkOpen();
      const { done, value } = this.#reading(from, () => steps.next());
      if (done) return value;
      yield;
    }
  }

  #newest(): number {
    this.#checkOpen();
    return this.#commits.revision;
  }

  #checkOpen(): void {
    if (this.#closed) throw closed();
  }

  /**
   * Begins a snapshot and answers its revision, which may be a commit ahead of what the watches have been handed:
   * then that commit is on disk and its events are about to be dispatched.
   */
  #startRead(revision: number): number {
    this.#checkOpen();
    this.#env.resetReadTxn();
    const newest = this.#onDisk();
    if (revision > newest) throw futureRevision(revision, newest);
    const oldest = this.#housekeeping.compacted;
    if (revision !== 0 && revision < oldest) throw compacted(revision, oldest);
    return newest;
  }

  #onDisk(): number {
    return this.#reading(0, () => newestRevision(this.#tables.meta));
  }

  /** Runs what reads the file, from this revision of the log on. */
  #reading<T>(from: number, read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw error instanceof DamagedHistory ? this.#historyFailure(error, from) : this.#readFailure(error);
    }
  }

  /** History is not kept for good: what of it cannot be read is dropped, and clients list anew as after any compaction. */
  #historyFailure({ revision, message }: DamagedHistory, from: number): KvError {
    const { compacted: oldest } = this.#housekeeping;
    if (from <= oldest) return compacted(from, oldest);
    this.#log?.warning(`${this.#folder.storePath}: ${message}; dropping the history up to it`);
    void this.#housekeeping.compact(revision);
    return compacted(from, revision);
  }

  /** A record that is damaged fails those who want it. Where the engine cannot go on nothing can be relied on any more. */
  #readFailure(error: unknown): KvError {
    if (error instanceof KvError) return error;
    const failure = damaged(this.#folder.path, `its file store.mdb is damaged: ${engineText(error)}`);
    if (this.#damage === undefined) this.#log?.warning(failure.message);
    this.#damage ??= failure;
    return failure;
  }

  // hot: every write
  async #write(
    key: string,
    expected: number,
    value: Buffer | undefined,
    { ttlSeconds = 0 }: WriteOptions,
  ): Promise<WriteResult> {
    const byteKey = byteKeyOf(key);
    const refused = this.#closed ? closed() : tooLarge(byteKey, value);
    if (refused !== undefined) throw refused;
    const write = writeKey({ key: byteKey, expected, value, ttlSeconds });
    const { result, revision } = await this.#commits.transact(write);
    if (result.done) return { done: true, revision };
    return { done: false, revision, current: result.current && keyValueOf(key, result.current) };
  }
}

const byteRangeOf = (prefix: string): { start: string; end: string | undefined } => {
  const start = byteKeyOf(prefix);
  return { start, end: bytePrefixEnd(start) };
};

function tooLarge(key: string, value: Buffer | undefined): KvError | undefined {
  if (isTooLong(key)) {
    return new KvError('too-large', `a key may have at most ${MAX_KEY_BYTES} bytes`);
  }
  if (value !== undefined && value.length > MAX_VALUE_BYTES) {
    return new KvError('too-large', `a value may have at most ${MAX_VALUE_BYTES} bytes`);
  }
  return undefined;
}
