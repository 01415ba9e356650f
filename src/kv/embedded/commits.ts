// Group commit. Writers queue; one commit runs at a time and includes all writes that queued meanwhile, so that
// concurrent writers share one sync. Conditions are checked against the state that the previous commit left. When a
// commit is on disk its events are dispatched, and only then are the writers answered.
import type { RootDatabase } from 'lmdb';
import type { Clock } from '../../lib/async/clock.js';
import { KvError, type KvEvent, type WriteResult } from '../kv.js';
import { engineText } from './damage.js';
import { spaceExceeded } from './folder.js';
import { currentOf, keyValueOf, type Tables } from './past.js';
import { encodeLog, encodeNumbers, encodeVersion, type StoredVersion, type Version } from './records.js';
import type { Room } from './room.js';
import { changeTotals, revisionRecord, type Totals } from './state.js';

/** The most writes in one commit. */
const MAX_BATCH = 1024;
/** Where there is no room on the disk: each copies some pages. */
const MAX_TIGHT_BATCH = 32;
/** While commits on this thread take longer than this on average, the engine's thread commits. */
const IN_PLACE_MAX_MS = 1.5;
/** The average is over about so many commits. */
const IN_PLACE_MEMORY = 8;
const IN_PLACE_FORGET = 0.99;

const NO_BYTES = Buffer.alloc(0);

export interface WriteRequest {
  readonly key: string;
  /** The revision the key must be at; 0 when it must not be there. */
  readonly expected: number;
  /** Absent for a delete. */
  readonly value: Buffer | undefined;
  readonly ttlSeconds: number;
}

interface QueuedWrite extends WriteRequest {
  /** It was tried once, and there was no room for it. */
  readonly isRetried?: boolean;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: unknown) => void;
}

/** What one commit does, computed before the engine's transaction begins. */
interface Commit {
  readonly atMs: number;
  /** The store's after this. */
  totals: Totals;
  /** There is no room for what deletes replace: history is dropped with them. */
  isTight: boolean;
  readonly events: KvEvent[];
  readonly answers: (() => void)[];
  readonly changes: Change[];
}

interface Change {
  readonly revision: number;
  /** The key, encoded. */
  readonly name: Buffer;
  /** Absent for a delete. */
  readonly next: Encoded | undefined;
  /** Absent also where it is damaged: then nothing can be said of before. */
  readonly previous: Version | undefined;
}

interface Encoded extends StoredVersion {
  readonly bytes: Buffer;
}

export class Commits {
  /** The last revision whose events have been dispatched. */
  revision: number;
  /** Why the last commit failed, if it did. */
  failure: KvError | undefined;
  readonly #env: RootDatabase;
  readonly #tables: Tables;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #room: Room;
  readonly #dropHistory: (revision: number) => void;
  readonly #dispatch: (events: readonly KvEvent[]) => void;
  readonly #readFailure: (error: unknown) => KvError;
  #totals: Totals;
  #queue: QueuedWrite[] = [];
  /** Housekeeping that goes with the next commit. */
  #chores: { readonly run: () => void; readonly done: () => void }[] = [];
  #running: Promise<void> | undefined;
  /** The recent average duration of commits on this thread. */
  #inPlaceMs = 0;
  /** The writes of the commit before. */
  #lastCount = 1;

  constructor(options: {
    env: RootDatabase;
    tables: Tables;
    folder: string;
    clock: Clock;
    room: Room;
    /** Inside a commit. */
    dropHistory: (revision: number) => void;
    revision: number;
    totals: Totals;
    dispatch: (events: readonly KvEvent[]) => void;
    /** What it means that the file could not be read. */
    readFailure: (error: unknown) => KvError;
  }) {
    this.#env = options.env;
    this.#tables = options.tables;
    this.#folder = options.folder;
    this.#clock = options.clock;
    this.#room = options.room;
    this.#dropHistory = options.dropHistory;
    this.#dispatch = options.dispatch;
    this.#readFailure = options.readFailure;
    this.#totals = options.totals;
    this.revision = options.revision;
  }

  write({ key, expected, value, ttlSeconds }: WriteRequest): Promise<WriteResult> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ key, expected, value, ttlSeconds, resolve, reject });
      this.#run();
    });
  }

  /** Runs inside a commit; fulfilled after it, whether it succeeded or not. */
  chore(run: () => void): Promise<void> {
    return new Promise((done) => {
      this.#chores.push({ run, done });
      this.#run();
    });
  }

  /** Fulfilled when nothing is queued any more. */
  async idle(): Promise<void> {
    await this.#running;
  }

  #run(): void {
    this.#running ??= this.#commitAll();
  }

  async #commitAll(): Promise<void> {
    // Writers of the same turn of the event loop share the first commit.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queue.length > 0 || this.#chores.length > 0) {
      const writes = this.#queue.splice(0, this.#nextCount());
      const chores = this.#chores.splice(0);
      await this.#commit(
        writes,
        chores.map(({ run }) => run),
      );
      for (const { done } of chores) done();
    }
    // Cleared synchronously with the check that found the queue empty, so that the next writer starts a new loop.
    this.#running = undefined;
  }

  /**
   * Many writers that wait for answers form two groups: one is being committed while the other writes anew. When both
   * are of one size, neither this thread nor the disk waits for the other. So when the queue is longer than the previous
   * commit, the next commit's size is the mean of both.
   */
  #nextCount(): number {
    const waiting = this.#queue.length;
    const balanced = Math.ceil((waiting + this.#lastCount) / 2);
    return Math.min(waiting, Math.max(balanced, this.#lastCount), this.#room.isFull ? MAX_TIGHT_BATCH : MAX_BATCH);
  }

  // hot: every write
  async #commit(writes: readonly QueuedWrite[], chores: readonly (() => void)[]): Promise<void> {
    this.#env.resetReadTxn();
    const commit = this.#evaluate(writes);
    const revision = this.revision + commit.events.length;
    if (commit.changes.length > 0 || chores.length > 0) {
      if (this.#room.isFull) this.#room.giveReserve();
      try {
        await this.#transact(writes.length, () => {
          for (const change of commit.changes) this.#put(change, commit);
          for (const chore of chores) chore();
          if (commit.isTight) this.#dropHistory(revision);
          void this.#tables.meta.put(...revisionRecord(revision, commit.totals));
        });
        this.failure = undefined;
      } catch (error) {
        this.failure = this.#commitFailure(await reasonOf(error));
        this.#refuse(writes, this.failure);
        return;
      }
    }
    this.revision = revision;
    this.#totals = commit.totals;
    if (commit.events.length > 0) this.#dispatch(commit.events);
    for (const answer of commit.answers) answer();
  }

  /** Deletes that there was no room for are tried once more, without the history of what they replace. */
  #refuse(writes: readonly QueuedWrite[], failure: KvError): void {
    const isFull = failure.code === 'disk-full';
    if (isFull) this.#room.noteFailure();
    const again: QueuedWrite[] = [];
    for (const write of writes) {
      if (isFull && write.value === undefined && !write.isRetried) again.push({ ...write, isRetried: true });
      else write.reject(failure);
    }
    this.#queue = [...again, ...this.#queue];
  }

  /**
   * Single writes on a fast disk are committed on this thread: a round trip to the engine's thread takes longer than the
   * sync. Larger commits, and all commits on a slower disk, run on the engine's thread. So does a single write among
   * larger commits, because this thread then has other requests to serve.
   */
  async #transact(writeCount: number, action: () => void): Promise<void> {
    const alone = writeCount === 1 && this.#lastCount === 1;
    this.#lastCount = writeCount;
    if (!alone || this.#inPlaceMs > IN_PLACE_MAX_MS) {
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
    const atMs = this.#clock.now();
    const commit: Commit = { atMs, totals: this.#totals, isTight: false, events: [], answers: [], changes: [] };
    const changed = new Map<string, StoredVersion | undefined>();
    let revision = this.revision;
    for (const write of writes) {
      const { key, value, resolve } = write;
      let current: StoredVersion | undefined;
      try {
        current = changed.has(key) ? changed.get(key) : currentOf(this.#tables, key);
      } catch (error) {
        const failure = this.#readFailure(error);
        commit.answers.push(() => write.reject(failure));
        continue;
      }
      const previous = current?.isDamaged ? undefined : current;
      if ((current?.modRevision ?? 0) !== write.expected) {
        const refused = { done: false, current: previous && keyValueOf(key, previous) } as const;
        commit.answers.push(() => resolve({ ...refused, revision: this.revision }));
        continue;
      }
      const hasRoom = this.#room.take((value?.length ?? 0) + (previous?.value.length ?? 0));
      if (!hasRoom && value !== undefined) {
        commit.answers.push(() => write.reject(spaceExceeded()));
        continue;
      }
      commit.isTight ||= !hasRoom;
      const mine = ++revision;
      const name = Buffer.from(key);
      const createRevision = value === undefined ? 0 : (current?.createRevision ?? mine);
      const expiresAtMs = write.ttlSeconds > 0 ? atMs + write.ttlSeconds * 1000 : 0;
      const next = value && encoded(name, { modRevision: mine, createRevision, expiresAtMs, value });
      commit.totals = changeTotals(commit.totals, name, current, next);
      changed.set(key, next);
      commit.changes.push({ name, revision: mine, next, previous });
      commit.events.push({
        type: value === undefined ? 'delete' : 'put',
        key,
        revision: mine,
        value: value ?? NO_BYTES,
        createRevision,
        previous: previous && keyValueOf(key, previous),
      });
      commit.answers.push(() => resolve({ done: true, revision: mine }));
    }
    return commit;
  }

  /** Runs inside a commit, whose own promise rejects on failure: the promises of single operations always fulfil. */
  #put({ name, revision, next, previous }: Change, { atMs, isTight }: Commit): void {
    const { current, log, expiries } = this.#tables;
    if (next === undefined) void current.remove(name);
    else void current.put(name, next.bytes);
    const type = next === undefined ? 'delete' : 'put';
    const createRevision = next?.createRevision ?? 0;
    const replaced = isTight ? undefined : previous;
    void log.put(
      encodeNumbers(revision),
      encodeLog(revision, name, { type, atMs, createRevision, previous: replaced }),
    );
    if (previous !== undefined && previous.expiresAtMs > 0) {
      void expiries.remove(encodeNumbers(previous.expiresAtMs, previous.modRevision));
    }
    if (next !== undefined && next.expiresAtMs > 0) {
      void expiries.put(encodeNumbers(next.expiresAtMs, revision), name);
    }
  }

  #commitFailure(error: unknown): KvError {
    const why = engineText(error);
    // A full disk surfaces as one of several errors, so free space is checked too.
    if (/space|quota/i.test(why) || this.#room.isAlmostGone) return spaceExceeded(error);
    return new KvError('unavailable', `cannot write to ${this.#folder}: ${why}`, { cause: error });
  }
}

function encoded(name: Buffer, version: Version): Encoded {
  const { modRevision, createRevision, expiresAtMs, value } = version;
  const { bytes, checksum } = encodeVersion(name, version);
  return { modRevision, createRevision, expiresAtMs, value, bytes, checksum, isUnchecked: false, isDamaged: false };
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
