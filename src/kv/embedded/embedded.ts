// The embedded store: in this process, on disk, multi-version, every answered write synced.
import type { Database, RootDatabase } from 'lmdb';
import { type Clock, systemClock } from '../../lib/clock.js';
import { atOnce, inTurns, type Steps } from '../../lib/turns.js';
import {
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
} from '../kv.js';
import { WatchHub } from '../watch-hub.js';
import { catchUp, type RevisionRange } from './catch-up.js';
import { Commits } from './commits.js';
import { damaged, type DataFolder, openFailure, openFolder } from './folder.js';
import { Housekeeping } from './housekeeping.js';
import {
  COMPACTED,
  currentOf,
  isTooLong,
  MAX_KEY_BYTES,
  eventSteps,
  type EventsWanted,
  getAt,
  keyValueOf,
  rangeAt,
  rangeSteps,
  replacedSince,
  REVISION,
  type Tables,
  viewAt,
  WRITER,
  WRITER_SINCE,
} from './past.js';
import { encodeNumbers, numberAt } from './records.js';
import { compressionOf, type ValueCompression } from './value-compression.js';

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
}

export async function openEmbeddedStore(options: EmbeddedOptions): Promise<KeyValueStore> {
  // The engine is a native module; it is loaded only where it is used.
  const { open } = await import('lmdb');
  const folder = await openFolder(options.folder).catch((error: unknown) => {
    throw openFailure(options.folder, error);
  });
  let env: RootDatabase | undefined;
  try {
    env = open({
      path: folder.storePath,
      noSubdir: true,
      overlappingSync: false,
      // We batch ourselves; the engine's own batching of a turn leaves a rejection unhandled when the disk is full.
      eventTurnBatching: false,
      encoding: 'binary',
      keyEncoding: 'binary',
      compression: false,
      cache: false,
      maxDbs: 8,
      ...(HAS_FEW_ADDRESSES.has(process.arch) ? {} : { mapSize: MAP_BYTES }),
    });
    const opened = env;
    const table = (name: string, compression: ValueCompression | false = false): Database<Buffer, Buffer> =>
      opened.openDB<Buffer, Buffer>(name, { encoding: 'binary', keyEncoding: 'binary', cache: false, compression });
    const meta = table('meta');
    const compression = await compressionOf(meta, folder.isCompressed);
    if (compression === undefined) throw damaged(options.folder, 'the dictionary of its values is damaged');
    const tables: Tables = {
      current: table('current', compression),
      log: table('log', compression),
      expiries: table('expiries'),
      meta,
    };
    if (tables.meta.get(REVISION) === undefined) await tables.meta.put(REVISION, encodeNumbers(1));
    await noteWriter(env, tables, Buffer.from(options.writer ?? ''));
    // Before the first value is written in this format.
    folder.markFormat();
    return new EmbeddedStore(env, tables, folder, options);
  } catch (error) {
    // The engine would go on with what it has open when the folder is opened again.
    await env?.close();
    await folder.release();
    throw openFailure(options.folder, error);
  }
}

/** What lies there when another build comes is of an earlier one, whichever; what lay there before that one, too. */
async function noteWriter(env: RootDatabase, { meta }: Tables, writer: Buffer): Promise<void> {
  if (meta.get(WRITER)?.equals(writer)) return;
  const revision = meta.get(REVISION) ?? encodeNumbers(1);
  await env.transaction(() => {
    meta.putSync(WRITER, writer);
    meta.putSync(WRITER_SINCE, Buffer.from(revision));
  });
}

const closed = (): KvError => new KvError('closed', 'the store is closed');

class EmbeddedStore implements KeyValueStore {
  readonly local = true;
  readonly olderRevision: number;
  readonly #env: RootDatabase;
  readonly #tables: Tables;
  readonly #folder: DataFolder;
  readonly #hub = new WatchHub();
  readonly #commits: Commits;
  readonly #housekeeping: Housekeeping;
  #closed = false;

  constructor(
    env: RootDatabase,
    tables: Tables,
    folder: DataFolder,
    { folder: path, clock = systemClock, historyMs = HISTORY_MS }: EmbeddedOptions,
  ) {
    this.#env = env;
    this.#tables = tables;
    this.olderRevision = this.#onDisk(WRITER_SINCE);
    this.#folder = folder;
    const dispatch = this.#hub.dispatch.bind(this.#hub);
    this.#commits = new Commits({ env, tables, folder: path, clock, revision: this.#onDisk(REVISION), dispatch });
    const commits = this.#commits;
    this.#housekeeping = new Housekeeping({
      env,
      tables,
      commits,
      clock,
      compacted: this.#onDisk(COMPACTED),
      historyMs,
    });
  }

  async get(key: string, { revision = 0 }: { revision?: number } = {}): Promise<KeyValue | undefined> {
    this.#startRead(revision);
    const version = revision === 0 ? currentOf(this.#tables, key) : getAt(this.#tables, key, revision);
    return version && keyValueOf(key, version);
  }

  // hot: every object that is not in memory
  currentValue(key: string, modRevision: number): Buffer | undefined {
    this.#checkOpen();
    const known = viewAt(this.#tables, key, modRevision);
    if (known !== undefined) return known;
    // The snapshot of this turn may be from before the version, or from after a commit that is still to be told of.
    this.#env.resetReadTxn();
    const { revision } = this.#commits;
    return (
      viewAt(this.#tables, key, modRevision) ??
      replacedSince(this.#tables, key, modRevision, revision) ??
      // For a watch that has stopped listening: a long way, which nobody goes twice.
      replacedSince(this.#tables, key, modRevision, modRevision)
    );
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    const { revision = 0 } = request;
    const newest = this.#startRead(revision);
    if (revision === 0 || revision === newest) return { revision: newest, ...rangeAt(this.#tables, request) };
    const range = await inTurns(this.#whileOpen(rangeSteps(this.#env, this.#tables, { ...request, revision })));
    // Its log may have been dropped while it was read.
    const oldest = this.#housekeeping.compacted;
    if (revision < oldest) throw compacted(revision, oldest);
    return range;
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
    if (request.inTurns) {
      const log = {
        newest: () => this.#newest(),
        events: (range: RevisionRange) => this.#events({ prefix, previous, ...range }),
        live,
      };
      return catchUp(log, startRevision, receiver);
    }
    this.#env.resetReadTxn();
    const wanted = { prefix, startRevision, endRevision: revision, newest: this.#onDisk(REVISION), previous };
    const missed = atOnce(eventSteps(this.#env, this.#tables, wanted)) ?? [];
    if (missed.length > 0) void receiver.events(missed);
    return live(revision + 1);
  }

  async changes(request: ChangesRequest): Promise<readonly KvEvent[] | undefined> {
    return inTurns(this.#events({ ...request, previous: true }));
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
    const { lastPageNumber, pageSize } = this.#env.getStats() as { lastPageNumber: number; pageSize: number };
    return (lastPageNumber + 1) * pageSize;
  }

  async health(): Promise<void> {
    this.#checkOpen();
    if (this.#commits.failure !== undefined) throw this.#commits.failure;
    this.#onDisk(REVISION);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#housekeeping.stop();
    await this.#commits.idle();
    this.#hub.fail(closed());
    await this.#env.close();
    await this.#folder.release();
  }

  *#events(wanted: Omit<EventsWanted, 'newest'>): Steps<readonly KvEvent[] | undefined> {
    const newest = this.#startRead(0);
    const events = yield* this.#whileOpen(eventSteps(this.#env, this.#tables, { ...wanted, newest }));
    // Its log may have been dropped while it was read.
    const { compacted: oldest } = this.#housekeeping;
    if (wanted.startRevision <= oldest) throw compacted(wanted.startRevision, oldest);
    return events;
  }

  /** The engine must not be asked after it was closed. */
  *#whileOpen<T>(steps: Steps<T>): Steps<T> {
    for (;;) {
      this.#checkOpen();
      const { done, value } = steps.next();
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
    const newest = this.#onDisk(REVISION);
    if (revision > newest) throw futureRevision(revision, newest);
    const oldest = this.#housekeeping.compacted;
    if (revision !== 0 && revision < oldest) throw compacted(revision, oldest);
    return newest;
  }

  #onDisk(name: Buffer): number {
    const bytes = this.#tables.meta.get(name);
    return bytes === undefined ? 0 : numberAt(bytes, 0);
  }

  // hot: every write
  #write(
    key: string,
    expected: number,
    value: Buffer | undefined,
    { ttlSeconds = 0 }: WriteOptions,
  ): Promise<WriteResult> {
    const refused = this.#closed ? closed() : tooLarge(key, value);
    if (refused !== undefined) return Promise.reject(refused);
    return this.#commits.write({ key, expected, value, ttlSeconds });
  }
}

function tooLarge(key: string, value: Buffer | undefined): KvError | undefined {
  if (isTooLong(key)) {
    return new KvError('too-large', `a key may have at most ${MAX_KEY_BYTES} bytes`);
  }
  if (value !== undefined && value.length > MAX_VALUE_BYTES) {
    return new KvError('too-large', `a value may have at most ${MAX_VALUE_BYTES} bytes`);
  }
  return undefined;
}
