// The embedded store: in this process, on disk, multi-version, every answered write synced.
//
// Writers queue. One commit runs at a time and takes all that queued meanwhile, so that concurrent writers share
// one sync; conditions are checked against the state left by the commit before. When it is on disk, its events go
// to the watches, and only then are the writers answered.
import fs from 'node:fs';
import type { Database, RootDatabase } from 'lmdb';
import { type Clock, systemClock } from '../../lib/clock.js';
import {
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
import { damaged, type DataFolder, openFolder } from './folder.js';
import { eventsSince, getAt, rangeAt, type Tables } from './past.js';
import {
  decodeVersion,
  encodeLog,
  encodeNumbers,
  encodeVersion,
  logTimeMs,
  numberAt,
  type Version,
} from './records.js';

/** Writes one commit takes. */
const MAX_BATCH = 1024;
const MAX_VALUE_BYTES = 8 * 1024 * 1024;
/** The engine's limit is 1978. */
const MAX_KEY_BYTES = 1900;
const TRIM_PERIOD_MS = 5_000;
/** Log records one commit drops; when there are more to drop, the next follows soon. */
const TRIM_BATCH = 2_000;
const TRIM_SOON_MS = 50;
/** History is kept this long, up to this many changes. */
const MAX_HISTORY_CHANGES = 1_000_000;
const EXPIRY_PERIOD_MS = 500;
const EXPIRY_BATCH = 500;

/** A failed write on a disk with less than this free is blamed on that. */
const FULL_BELOW_BYTES = 4 * 1024 * 1024;

/** A commit in place may take this long on average. */
const IN_PLACE_MAX_MS = 1.5;
/** The average is over about so many commits. */
const IN_PLACE_MEMORY = 8;
const IN_PLACE_FORGET = 0.99;

const NO_BYTES = Buffer.alloc(0);
const REVISION = Buffer.from('revision');
const COMPACTED = Buffer.from('compacted');

export interface EmbeddedOptions {
  /** The data folder; made when it is missing. */
  readonly folder: string;
  readonly clock?: Clock;
  /** How long past revisions are kept; 0 keeps them until compacted by hand. */
  readonly historyMs?: number;
}

export async function openEmbeddedStore(options: EmbeddedOptions): Promise<KeyValueStore> {
  // The engine is a native module; it is loaded only where it is used.
  const { open } = await import('lmdb');
  const folder = await openFolder(options.folder);
  try {
    const env = open({
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
    });
    const table = (name: string): Database<Buffer, Buffer> =>
      env.openDB<Buffer, Buffer>(name, { encoding: 'binary', keyEncoding: 'binary', cache: false });
    const tables: Tables = {
      current: table('current'),
      log: table('log'),
      expiries: table('expiries'),
      meta: table('meta'),
    };
    const store = new EmbeddedStore(env, tables, folder, options);
    await store.start();
    return store;
  } catch (error) {
    await folder.release();
    if (error instanceof KvError) throw error;
    throw damaged(options.folder, error instanceof Error ? error.message : String(error));
  }
}

interface QueuedWrite {
  readonly key: string;
  readonly expected: number;
  /** Absent for a delete. */
  readonly value: Buffer | undefined;
  readonly ttlSeconds: number;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: unknown) => void;
}

/** What one commit does, worked out before the engine is asked. */
interface Commit {
  readonly events: KvEvent[];
  readonly answers: (() => void)[];
  readonly puts: (() => void)[];
}

class EmbeddedStore implements KeyValueStore {
  readonly local = true;
  readonly #env: RootDatabase;
  readonly #tables: Tables;
  readonly #folder: DataFolder;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #historyMs: number;
  readonly #hub = new WatchHub();
  /** The last revision whose events have been handed to the watches. */
  #revision = 1;
  #compacted = 0;
  #queue: QueuedWrite[] = [];
  /** Housekeeping that goes with the next commit. */
  #chores: (() => void)[] = [];
  #choresDone: (() => void)[] = [];
  #running: Promise<void> | undefined;
  #closed = false;
  #failure: KvError | undefined;
  /** How long commits in place have taken lately. */
  #inPlaceMs = 0;
  #cancelTrim: (() => void) | undefined;
  #cancelExpiry: (() => void) | undefined;

  constructor(env: RootDatabase, tables: Tables, folder: DataFolder, options: EmbeddedOptions) {
    this.#env = env;
    this.#tables = tables;
    this.#folder = folder;
    this.#path = options.folder;
    this.#clock = options.clock ?? systemClock;
    this.#historyMs = options.historyMs ?? 5 * 60_000;
  }

  async start(): Promise<void> {
    const { meta } = this.#tables;
    const revision = meta.get(REVISION);
    if (revision === undefined) await meta.put(REVISION, encodeNumbers(1));
    else this.#revision = numberAt(revision, 0);
    const dropped = meta.get(COMPACTED);
    if (dropped !== undefined) this.#compacted = numberAt(dropped, 0);
    this.#folder.markCreated();
    this.#scheduleTrim(TRIM_PERIOD_MS);
    this.#scheduleExpiry();
  }

  async get(key: string, { revision = 0 }: { revision?: number } = {}): Promise<KeyValue | undefined> {
    this.#openForRead(revision);
    const version = revision === 0 ? this.#current(key) : getAt(this.#tables, key, revision);
    return version && keyValue(key, version);
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    this.#openForRead(request.revision ?? 0);
    // What is on disk may be a commit ahead of what the watches have seen; both are read in one snapshot.
    const revision = numberAt(this.#tables.meta.get(REVISION) ?? encodeNumbers(this.#revision), 0);
    return { revision, ...rangeAt(this.#tables, request, revision) };
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
    if (startRevision <= this.#revision) {
      this.#env.resetReadTxn();
      const missed = eventsSince(this.#tables, { prefix, startRevision, endRevision: this.#revision, previous });
      if (missed.length > 0) void receiver.events(missed);
    }
    return this.#hub.add({ prefix, previous, startRevision: Math.max(startRevision, this.#revision + 1) }, receiver);
  }

  requestProgress(): boolean {
    this.#hub.progress(this.#revision);
    return true;
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    if (revision > this.#revision) throw futureRevision(revision, this.#revision);
    if (revision <= this.#compacted) return;
    await this.#chore(() => this.#drop(revision));
    this.#scheduleTrim(TRIM_SOON_MS);
  }

  compactedRevision(): number {
    return this.#compacted;
  }

  async sizeBytes(): Promise<number> {
    this.#checkOpen();
    const { lastPageNumber, pageSize } = this.#env.getStats() as { lastPageNumber: number; pageSize: number };
    return (lastPageNumber + 1) * pageSize;
  }

  async health(): Promise<void> {
    this.#checkOpen();
    if (this.#failure !== undefined) throw this.#failure;
    this.#tables.meta.get(REVISION);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelTrim?.();
    this.#cancelExpiry?.();
    await this.#running;
    this.#hub.fail(new KvError('closed', 'the store is closed'));
    await this.#env.close();
    await this.#folder.release();
  }

  #checkOpen(): void {
    if (this.#closed) throw new KvError('closed', 'the store is closed');
  }

  #openForRead(revision: number): void {
    this.#checkOpen();
    this.#env.resetReadTxn();
    if (revision === 0) return;
    if (revision > this.#revision) throw futureRevision(revision, this.#revision);
    if (revision < this.#compacted) throw compacted(revision, this.#compacted);
  }

  #current(key: string): Version | undefined {
    const bytes = this.#tables.current.get(Buffer.from(key));
    return bytes && decodeVersion(bytes);
  }

  async #write(
    key: string,
    expected: number,
    value: Buffer | undefined,
    { ttlSeconds = 0 }: WriteOptions,
  ): Promise<WriteResult> {
    this.#checkOpen();
    if (Buffer.byteLength(key) > MAX_KEY_BYTES) {
      throw new KvError('too-large', `a key may have at most ${MAX_KEY_BYTES} bytes`);
    }
    if (value !== undefined && value.length > MAX_VALUE_BYTES) {
      throw new KvError('too-large', `a value may have at most ${MAX_VALUE_BYTES} bytes`);
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ key, expected, value, ttlSeconds, resolve, reject });
      this.#run();
    });
  }

  #chore(chore: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.#chores.push(chore);
      this.#choresDone.push(resolve);
      this.#run();
    });
  }

  #run(): void {
    this.#running ??= this.#commitAll();
  }

  async #commitAll(): Promise<void> {
    // Writers of the same turn share the first commit.
    await Promise.resolve();
    while (this.#queue.length > 0 || this.#chores.length > 0) {
      const writes = this.#queue.splice(0, MAX_BATCH);
      const chores = this.#chores.splice(0);
      const done = this.#choresDone.splice(0);
      await this.#commit(writes, chores);
      for (const resolve of done) resolve();
    }
    // At once, in the turn that found the queue empty: a writer that comes next starts anew.
    this.#running = undefined;
  }

  // hot: every write
  async #commit(writes: readonly QueuedWrite[], chores: readonly (() => void)[]): Promise<void> {
    this.#env.resetReadTxn();
    const commit = this.#evaluate(writes);
    const revision = this.#revision + commit.events.length;
    if (commit.puts.length > 0 || chores.length > 0) {
      try {
        await this.#transact(writes.length, () => {
          for (const put of commit.puts) put();
          for (const chore of chores) chore();
          quietly(this.#tables.meta.put(REVISION, encodeNumbers(revision)));
        });
        this.#failure = undefined;
      } catch (error) {
        this.#failure = this.#commitFailure(await reasonOf(error));
        for (const { reject } of writes) reject(this.#failure);
        return;
      }
    }
    this.#revision = revision;
    if (commit.events.length > 0) this.#hub.dispatch(commit.events);
    for (const answer of commit.answers) answer();
  }

  /**
   * A lone write on a quick disk is committed in place: handing it to the engine's thread and back takes longer
   * than the sync. Larger commits, and all on a slower disk, leave this thread free meanwhile.
   */
  async #transact(writeCount: number, action: () => void): Promise<void> {
    if (writeCount !== 1 || this.#inPlaceMs > IN_PLACE_MAX_MS) {
      // Disks get quicker again, too: after many commits elsewhere one is tried in place.
      this.#inPlaceMs *= IN_PLACE_FORGET;
      await this.#env.batch(action);
      return;
    }
    const began = process.hrtime.bigint();
    this.#env.transactionSync(action);
    const tookMs = Number(process.hrtime.bigint() - began) / 1e6;
    this.#inPlaceMs += (tookMs - this.#inPlaceMs) / IN_PLACE_MEMORY;
  }

  #evaluate(writes: readonly QueuedWrite[]): Commit {
    const commit: Commit = { events: [], answers: [], puts: [] };
    const changed = new Map<string, Version | undefined>();
    let revision = this.#revision;
    const atMs = this.#clock.now();
    for (const write of writes) {
      const { key, value, resolve } = write;
      const current = changed.has(key) ? changed.get(key) : this.#current(key);
      if ((current?.modRevision ?? 0) !== write.expected) {
        const refused = { done: false, current: current && keyValue(key, current) } as const;
        commit.answers.push(() => resolve({ ...refused, revision: this.#revision }));
        continue;
      }
      const mine = ++revision;
      const createRevision = value === undefined ? 0 : (current?.createRevision ?? mine);
      const expiresAtMs = write.ttlSeconds > 0 ? atMs + write.ttlSeconds * 1000 : 0;
      const next = value && { modRevision: mine, createRevision, expiresAtMs, value };
      changed.set(key, next);
      commit.puts.push(() => this.#put(key, mine, atMs, createRevision, next, current));
      commit.events.push({
        type: value === undefined ? 'delete' : 'put',
        key,
        revision: mine,
        value: value ?? NO_BYTES,
        createRevision,
        previous: current && keyValue(key, current),
      });
      commit.answers.push(() => resolve({ done: true, revision: mine }));
    }
    return commit;
  }

  #put(
    key: string,
    revision: number,
    atMs: number,
    createRevision: number,
    next: Version | undefined,
    previous: Version | undefined,
  ): void {
    const { current, log, expiries } = this.#tables;
    const name = Buffer.from(key);
    if (next === undefined) quietly(current.remove(name));
    else quietly(current.put(name, encodeVersion(next)));
    const type = next === undefined ? 'delete' : 'put';
    quietly(log.put(encodeNumbers(revision), encodeLog({ type, atMs, createRevision, key, previous })));
    if (previous !== undefined && previous.expiresAtMs > 0) {
      quietly(expiries.remove(encodeNumbers(previous.expiresAtMs, previous.modRevision)));
    }
    if (next !== undefined && next.expiresAtMs > 0) {
      quietly(expiries.put(encodeNumbers(next.expiresAtMs, revision), name));
    }
  }

  #commitFailure(error: unknown): KvError {
    const why = error instanceof Error ? error.message : String(error);
    // A full disk shows as one of several errors, so the disk is asked too.
    const { bavail, bsize } = fs.statfsSync(this.#path);
    if (/space|quota/i.test(why) || bavail * bsize < FULL_BELOW_BYTES) {
      return new KvError(
        'disk-full',
        `no space left to write to ${this.#path}; free some space there. The write did not happen, nothing was lost`,
        { cause: error },
      );
    }
    return new KvError('unavailable', `cannot write to ${this.#path}: ${why}`, { cause: error });
  }

  #scheduleTrim(afterMs: number): void {
    this.#cancelTrim?.();
    this.#cancelTrim = this.#clock.after(afterMs, () => {
      this.#cancelTrim = undefined;
      void this.#trim();
    });
  }

  /** Drops history that is old, little by little, each bit with a commit of its own or of writers. */
  async #trim(): Promise<void> {
    if (this.#closed) return;
    this.#env.resetReadTxn();
    let last = 0;
    let count = 0;
    const oldMs = this.#historyMs === 0 ? -1 : this.#clock.now() - this.#historyMs;
    const maxLast = this.#revision - MAX_HISTORY_CHANGES;
    for (const { key, value } of this.#tables.log.getRange({ limit: TRIM_BATCH })) {
      const revision = numberAt(key, 0);
      if (revision > this.#compacted && revision > maxLast && logTimeMs(value) > oldMs) break;
      last = revision;
      count++;
    }
    if (last > 0) await this.#chore(() => this.#drop(Math.max(last, this.#compacted), last));
    if (!this.#closed) this.#scheduleTrim(count === TRIM_BATCH ? TRIM_SOON_MS : TRIM_PERIOD_MS);
  }

  /** Inside a commit: forgets revisions before `revision`, and removes log records up to `upTo` (a batch at most). */
  #drop(revision: number, upTo: number = revision): void {
    const { log, meta } = this.#tables;
    if (revision > this.#compacted) {
      this.#compacted = revision;
      quietly(meta.put(COMPACTED, encodeNumbers(revision)));
    }
    for (const key of log.getKeys({ end: encodeNumbers(upTo + 1), limit: TRIM_BATCH })) quietly(log.remove(key));
  }

  #scheduleExpiry(): void {
    this.#cancelExpiry = this.#clock.after(EXPIRY_PERIOD_MS, () => void this.#expire());
  }

  async #expire(): Promise<void> {
    if (this.#closed) return;
    this.#env.resetReadTxn();
    const due = [
      ...this.#tables.expiries.getRange({ end: encodeNumbers(this.#clock.now() + 1, 0), limit: EXPIRY_BATCH }),
    ];
    const deletions = due.map(({ key, value }) => this.delete(value.toString(), numberAt(key, 1)));
    for (const { status } of await Promise.allSettled(deletions)) if (status === 'rejected') break;
    if (!this.#closed) this.#scheduleExpiry();
  }
}

/** The commit's own promise tells of a failure; those of its parts need no one to listen. */
function quietly(part: Promise<boolean>): void {
  part.catch(() => undefined);
}

/** The engine's error of a failed commit points to the one with the reason. */
async function reasonOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error;
  try {
    await error.commitError;
    return error;
  } catch (reason) {
    return reason;
  }
}

const keyValue = (key: string, { value, modRevision, createRevision }: Version): KeyValue => ({
  key,
  value,
  modRevision,
  createRevision,
});
