// The embedded store: in this process, on disk, multi-version, every answered write synced.
import type { RootDatabase } from 'lmdb';
import { type Clock, systemClock } from '../../lib/async/clock.js';
import { Yielder } from '../../lib/scheduling/yield.js';
import type { Logger } from '../../lib/telemetry/log.js';
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
import { eventOf, foundKeyValue, keyValueOf } from './change.js';
import type { CommitHold } from './commit-hold.js';
import { Commits, type Dispatch } from './commits.js';
import { DEFRAGMENT_LINE, defragment, type Defragmented, type DefragmentStep } from './defragment.js';
import { type Open, openEngine } from './engine.js';
import { type DataFolder, openFailure, openFolder } from './folder.js';
import { Housekeeping } from './housekeeping.js';
import { Leases } from './leases.js';
import { MovableTables } from './movable-tables.js';
import type { Mvcc } from './mvcc.js';
import { type OpenedTables, openTables } from './open-tables.js';
import { isTooLong, MAX_KEY_BYTES } from './past.js';
import { RangeHub } from './range-hub.js';
import { closed, Reads } from './reads.js';
import { diskFreeBytes, type FreeBytes } from './reserve.js';
import { Room } from './room.js';
import { TableWrites } from './table-writes.js';
import { writeKey } from './write-key.js';

const MAX_VALUE_BYTES = 8 * 1024 * 1024;
const HISTORY_MS = 5 * 60_000;

export interface EmbeddedOptions {
  /** The data folder; made when it is missing. */
  readonly folder: string;
  readonly clock?: Clock;
  /** Names the build that writes: what another wrote is known by it. Absent where objects are not written. */
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
  /** Called at each step of a defragmentation, for tests. */
  readonly defragmenting?: (step: DefragmentStep) => void;
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
    const noSync = options.noSync === true;
    env = openEngine(open, folder.storePath, { noSync });
    const { path, storePath } = folder;
    const { historyMs = HISTORY_MS, defragmenting } = options;
    const mayDropHistory = historyMs > 0;
    const now = (): number => clock.now();
    room = new Room({ folder: path, storePath, freeBytes, quotaBytes, mayDropHistory, writeZeros, now, log });
    const opened = await openTables(env, folder, room, options.writer);
    return new LmdbStore({ open, opened, folder, room, clock, log, historyMs, noSync, defragmenting });
  } catch (error) {
    // Without this the engine would reuse its open environment when the folder is opened again.
    await env?.close();
    await room?.close();
    await folder.release();
    throw openFailure(options.folder, error);
  }
}

interface StoreParts {
  readonly open: Open;
  readonly opened: OpenedTables;
  readonly folder: DataFolder;
  readonly room: Room;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  readonly historyMs: number;
  readonly noSync: boolean;
  readonly defragmenting: ((step: DefragmentStep) => void) | undefined;
}

class LmdbStore implements EmbeddedStore {
  readonly local = true;
  readonly olderRevision: number;
  readonly mvcc: Mvcc;
  readonly #parts: StoreParts;
  readonly #tables: MovableTables;
  readonly #writes: TableWrites;
  readonly #reads: Reads;
  readonly #hub = new WatchHub();
  readonly #ranges = new RangeHub();
  readonly #leases: Leases;
  readonly #commits: Commits;
  readonly #housekeeping: Housekeeping;
  #defragmenting: Promise<Defragmented> | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    const { open, folder, room, clock, log, historyMs, noSync } = parts;
    const { tables: opened, revision, compacted: oldest, totals, olderRevision } = parts.opened;
    this.olderRevision = olderRevision;
    const tables = new MovableTables(opened);
    const writes = new TableWrites(tables);
    this.#tables = tables;
    this.#writes = writes;
    room.tables = tables;
    this.#reads = new Reads({
      tables,
      folder,
      log,
      dispatched: () => this.#commits.revision,
      released: (at) => this.#commits.hold?.released(at),
      housekeeping: () => this.#housekeeping,
    });
    const readFailure = (error: unknown): KvError => this.#reads.failure(error);
    this.#leases = new Leases(tables, clock);
    const leases = this.#leases;
    this.#commits = new Commits({
      tables,
      writes,
      openBeside: () => openEngine(open, folder.storePath, { noSync }),
      folder: folder.path,
      clock,
      room,
      leases,
      dropHistory: (into, upTo) => this.#housekeeping.drop(into, upTo),
      revision,
      totals,
      dispatch: this.#dispatch(),
      readFailure,
    });
    this.#housekeeping = new Housekeeping({
      tables,
      commits: this.#commits,
      clock,
      compacted: oldest,
      leases,
      historyMs,
      room,
      failed: (error) => void readFailure(error),
    });
    this.mvcc = this.#mvcc();
    folder.answer((line) => this.#answer(line));
  }

  /** The contract's watches have all of a revision at once: their reader's state is one revision's. */
  #dispatch(): Dispatch {
    const hub = this.#hub;
    const ranges = this.#ranges;
    return {
      dispatch(changes) {
        if (!hub.isEmpty) hub.dispatch(changes.map(eventOf));
        ranges.dispatch(changes);
      },
      collectSteps: (changes) => ranges.collectSteps(changes),
      deliver(changes) {
        if (!hub.isEmpty) hub.dispatch(changes.map(eventOf));
        ranges.deliver();
      },
    };
  }

  #mvcc(): Mvcc {
    const commits = this.#commits;
    const housekeeping = this.#housekeeping;
    const reads = this.#reads;
    const { room } = this.#parts;
    return {
      get revision() {
        return commits.revision;
      },
      get compacted() {
        return housekeeping.compacted;
      },
      get isFull() {
        return room.isStillFull();
      },
      get quotaBytes() {
        return room.quotaBytes;
      },
      leases: this.#leases,
      size: () => {
        reads.checkOpen();
        return room.size();
      },
      transact: (transaction) => (reads.isClosed ? Promise.reject(closed()) : commits.transact(transaction)),
      transactInSteps: (transaction) =>
        reads.isClosed ? Promise.reject(closed()) : commits.transactInSteps(transaction),
      released: (revision) => commits.hold?.released(revision),
      get: (key) => reads.get(key),
      range: (range, revision) => reads.range(range, revision),
      changes: (request) => reads.changesCooperatively(request),
      follow: (request, receive) => this.#ranges.add(request, receive),
      defragment: () => this.#defragment(),
    };
  }

  holdCommits(hold: CommitHold): void {
    this.#commits.hold = hold;
  }

  async get(key: string, { revision = 0 }: { revision?: number } = {}): Promise<KeyValue | undefined> {
    const byteKey = byteKeyOf(key);
    const { revision: at, version } = revision === 0 ? this.#reads.get(byteKey) : this.#reads.getAt(byteKey, revision);
    // What was read is on disk, and not known to every process yet.
    const released = this.#commits.hold?.released(at);
    if (released !== undefined) await released;
    return version && keyValueOf(key, version);
  }

  // hot: every object that is not in memory
  currentValue(key: string, modRevision: number): Buffer | undefined {
    return this.#reads.view(key, modRevision);
  }

  async range({ start, end, revision = 0, limit = 0, countOnly = false }: RangeRequest): Promise<RangeResult> {
    const make = foundKeyValue;
    const gather = (kvs: readonly KeyValue[]): readonly KeyValue[] => kvs;
    const range = { start: byteKeyOf(start), end: byteKeyOf(end), limit, countOnly, make, gather };
    const { pages, ...found } = await this.#reads.range(range, revision);
    return { ...found, kvs: pages.length === 1 ? (pages[0] ?? []) : pages.flat() };
  }

  async revision(): Promise<number> {
    this.#reads.checkOpen();
    return this.#commits.revision;
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
    this.#reads.checkOpen();
    const { revision } = this.#commits;
    const { prefix, startRevision = revision + 1, previous = false } = request;
    if (startRevision <= this.#housekeeping.compacted) {
      const error = compacted(startRevision, this.#housekeeping.compacted);
      queueMicrotask(() => receiver.failed(error));
      return { cancel: () => undefined };
    }
    const live = (from: number): KvWatch => this.#hub.add({ prefix, previous, startRevision: from }, receiver);
    if (startRevision > revision) return live(startRevision);
    const missed = this.#reads.changesAtOnce({
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
    const steps = this.#reads.changes({ ...request, ...byteRangeOf(prefix) });
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
    this.#reads.checkOpen();
    if (revision > this.#commits.revision) throw futureRevision(revision, this.#commits.revision);
    if (revision > this.#housekeeping.compacted) await this.#housekeeping.compact(revision);
  }

  compactedRevision(): number {
    return this.#housekeeping.compacted;
  }

  async sizeBytes(): Promise<number> {
    this.#reads.checkOpen();
    return this.#parts.room.size().bytes;
  }

  async backup(folder: string): Promise<void> {
    this.#reads.checkOpen();
    await backUp(this.#tables, folder);
  }

  async health(): Promise<void> {
    this.#reads.checkOpen();
    const failure = this.#reads.damage ?? this.#commits.failure;
    // On a full disk everything can be read, and deleted: as with etcd's alarm that is well, and starting anew would not help.
    if (failure !== undefined && failure.code !== 'disk-full') throw failure;
    this.#reads.onDisk();
  }

  async close(): Promise<void> {
    if (this.#reads.isClosed) return;
    this.#reads.isClosed = true;
    this.#housekeeping.stop();
    await this.#defragmenting?.catch(() => undefined);
    await this.#commits.idle();
    this.#hub.fail(closed());
    await this.#parts.room.close();
    await this.#tables.close();
    await this.#parts.folder.release();
  }

  /** Whoever wants it while it is under way waits for the same. */
  #defragment(): Promise<Defragmented> {
    const { open, folder, noSync, room, defragmenting } = this.#parts;
    this.#defragmenting ??= defragment({
      open,
      folder: folder.path,
      noSync,
      tables: this.#tables,
      writes: this.#writes,
      commits: this.#commits,
      room,
      checkOpen: () => this.#reads.checkOpen(),
      reached: defragmenting,
    }).finally(() => (this.#defragmenting = undefined));
    return this.#defragmenting;
  }

  async #answer(line: string): Promise<string> {
    if (line !== DEFRAGMENT_LINE) return `refused: ${line}`;
    this.#reads.checkOpen();
    const { beforeBytes, afterBytes } = await this.#defragment();
    return `${DEFRAGMENT_LINE} ${beforeBytes} ${afterBytes}`;
  }

  // hot: every write
  async #write(
    key: string,
    expected: number,
    value: Buffer | undefined,
    { ttlSeconds = 0 }: WriteOptions,
  ): Promise<WriteResult> {
    const byteKey = byteKeyOf(key);
    const refused = this.#reads.isClosed ? closed() : tooLarge(byteKey, value);
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
