// Group commit. Transactions queue; one commit runs at a time and includes all that queued meanwhile, so that concurrent
// writers share one sync. Each sees the state that those before it leave (pending-state.ts). When a commit is on disk its
// changes are dispatched, and only then are the writers answered.
import type { RootDatabase } from 'lmdb';
import type { Clock } from '../../lib/async/clock.js';
import { KvError } from '../kv.js';
import { changeBytes, type CommitNeed } from './allocation.js';
import type { Change } from './change.js';
import type { CommitHold } from './commit-hold.js';
import { engineText } from './damage.js';
import { spaceExceeded } from './folder.js';
import { leasedName, type Leases } from './leases.js';
import type { Tables } from './past.js';
import { type PendingChange, PendingState } from './pending-state.js';
import { encodeLog, encodeNumbers, encodePlace } from './records.js';
import type { Room } from './room.js';
import { revisionRecord, type Totals } from './state.js';

/** The most writes in one commit. */
const MAX_BATCH = 1024;
/** Where there is no room on the disk: what is kept for deletes suffices for so many. */
const MAX_TIGHT_BATCH = 8;
/** While commits on this thread take longer than this on average, the engine's thread commits. */
const IN_PLACE_MAX_MS = 1.5;
/** The average is over about so many commits. */
const IN_PLACE_MEMORY = 8;
const IN_PLACE_FORGET = 0.99;

/** Reads and changes the state. One that throws changes nothing, and fails with what it threw. */
export type Transaction<T> = (state: PendingState) => T;

/** What a transaction throws to be refused for a reason of its own. */
export class TransactionRefused extends Error {}

export interface TransactionResult<T> {
  readonly result: T;
  /** The store's after it. */
  readonly revision: number;
}

interface QueuedTransaction {
  readonly transaction: Transaction<unknown>;
  /** It was tried once, and there was no room for it. */
  readonly isRetried?: boolean;
  /** It changed something, and deletes were all. */
  onlyDeletes: boolean;
  readonly resolve: (result: TransactionResult<unknown>) => void;
  readonly reject: (error: unknown) => void;
}

const NO_BYTES = Buffer.alloc(0);

export class Commits {
  /** The last revision whose events have been dispatched. */
  revision: number;
  /** Where other processes share the store. */
  hold: CommitHold | undefined;
  /** Why the last commit failed, if it did. */
  failure: KvError | undefined;
  readonly #env: RootDatabase;
  readonly #tables: Tables;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #room: Room;
  readonly #dropHistory: (revision: number) => void;
  readonly #leases: Leases;
  readonly #dispatch: (changes: readonly Change[]) => void;
  readonly #readFailure: (error: unknown) => KvError;
  #totals: Totals;
  /** The last revision on disk. */
  #committed: number;
  #queue: QueuedTransaction[] = [];
  /** Housekeeping that goes with the next commit. */
  #chores: { readonly run: () => void; readonly done: () => void }[] = [];
  #running: Promise<void> | undefined;
  /** The system refused a write of the engine, whose memory is not to be relied on from then on: nothing is written any more. */
  #broken: KvError | undefined;
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
    leases: Leases;
    /** Inside a commit. */
    dropHistory: (revision: number) => void;
    revision: number;
    totals: Totals;
    dispatch: (changes: readonly Change[]) => void;
    /** What it means that the file could not be read. */
    readFailure: (error: unknown) => KvError;
  }) {
    this.#env = options.env;
    this.#tables = options.tables;
    this.#folder = options.folder;
    this.#clock = options.clock;
    this.#room = options.room;
    this.#leases = options.leases;
    this.#dropHistory = options.dropHistory;
    this.#dispatch = options.dispatch;
    this.#readFailure = options.readFailure;
    this.#totals = options.totals;
    this.revision = options.revision;
    this.#committed = options.revision;
  }

  transact<T>(transaction: Transaction<T>): Promise<TransactionResult<T>> {
    return new Promise((resolve, reject) => {
      this.#queue.push({
        transaction,
        onlyDeletes: false,
        resolve: resolve as (result: TransactionResult<unknown>) => void,
        reject,
      });
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
      const queued = this.#queue.splice(0, this.#nextCount());
      const chores = this.#chores.splice(0);
      await this.#commit(
        queued,
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
  async #commit(queued: readonly QueuedTransaction[], chores: readonly (() => void)[]): Promise<void> {
    this.#env.resetReadTxn();
    const state = new PendingState({
      tables: this.#tables,
      room: this.#room,
      leases: this.#leases,
      atMs: this.#clock.now(),
      revision: this.#committed,
      totals: this.#totals,
    });
    const answers = queued.map((one) => this.#evaluate(one, state));
    if (state.changes.length > 0 || state.grants.size > 0 || chores.length > 0) {
      try {
        if (this.#broken !== undefined) throw this.#broken;
        const allocated = this.#room.allocate(needOf(state));
        if (allocated !== true && !(await allocated)) throw spaceExceeded();
        await this.#write(queued.length, () => {
          for (const change of state.changes) this.#put(change, state);
          this.#leases.write(state.grants);
          for (const chore of chores) chore();
          if (state.isTight) this.#dropHistory(state.revision);
          void this.#tables.meta.put(...revisionRecord(state.revision, state.totals));
        });
        this.failure = undefined;
      } catch (error) {
        this.failure = this.#commitFailure(await reasonOf(error));
        this.#refuse(queued, this.failure);
        return;
      }
    }
    const { revision, changes } = state;
    this.#committed = revision;
    this.#totals = state.totals;
    this.#leases.apply(state.grants);
    const release = (): void => {
      this.revision = revision;
      if (changes.length > 0) this.#dispatch(changes);
      for (const answer of answers) answer();
    };
    if (this.hold === undefined) release();
    else this.hold.committed(revision, changes, release);
  }

  /** Answers how its caller is answered. */
  #evaluate(queued: QueuedTransaction, state: PendingState): () => void {
    const { transaction, isRetried, resolve, reject } = queued;
    state.begin(isRetried);
    try {
      const result = transaction(state);
      state.end();
      queued.onlyDeletes = state.hasChanged && state.onlyDeletes;
      const { revision } = state;
      return () => resolve({ result, revision });
    } catch (error) {
      state.rollBack();
      const failure = error instanceof TransactionRefused ? error : this.#readFailure(error);
      return () => reject(failure);
    }
  }

  /** Deletes that there was no room for are tried once more, without the history of what they replace. */
  #refuse(queued: readonly QueuedTransaction[], failure: KvError): void {
    const isFull = failure.code === 'disk-full';
    const again: QueuedTransaction[] = [];
    for (const one of queued) {
      if (isFull && one.onlyDeletes && !one.isRetried) again.push({ ...one, isRetried: true });
      else one.reject(failure);
    }
    this.#queue = [...again, ...this.#queue];
  }

  /**
   * Single writes on a fast disk are committed on this thread: a round trip to the engine's thread takes longer than the
   * sync. Larger commits, and all commits on a slower disk, run on the engine's thread. So does a single write among
   * larger commits, because this thread then has other requests to serve.
   */
  async #write(writeCount: number, action: () => void): Promise<void> {
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

  /** Runs inside a commit, whose own promise rejects on failure: the promises of single operations always fulfil. */
  #put({ name, revision, place, isLast, next, previous }: PendingChange, { atMs, isTight }: PendingState): void {
    const { current, log, expiries, leased } = this.#tables;
    if (next === undefined) void current.remove(name);
    else void current.put(name, next.bytes);
    const type = next === undefined ? 'delete' : 'put';
    const createRevision = next?.createRevision ?? 0;
    const replaced = isTight ? undefined : previous;
    void log.put(
      encodePlace(revision, place),
      encodeLog({ revision, place, isLast }, name, { type, atMs, createRevision, previous: replaced }),
    );
    if (previous !== undefined && previous.expiresAtMs > 0) {
      void expiries.remove(encodeNumbers(previous.expiresAtMs, previous.modRevision));
    }
    if (next !== undefined && next.expiresAtMs > 0) {
      void expiries.put(encodeNumbers(next.expiresAtMs, revision), name);
    }
    const lease = next?.lease ?? 0n;
    const before = previous?.lease ?? 0n;
    if (before !== 0n && before !== lease) void leased.remove(leasedName(before, name));
    if (lease !== 0n && before !== lease) void leased.put(leasedName(lease, name), NO_BYTES);
  }

  #commitFailure(error: unknown): KvError {
    if (error instanceof KvError) return error;
    const failure = new KvError('unavailable', `cannot write to ${this.#folder}: ${engineText(error)}`, {
      cause: error,
    });
    if (isOfSystem(error)) this.#broken = failure;
    return failure;
  }
}

/** The engine's own codes are negative. */
const isOfSystem = (error: unknown): boolean => {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'number' && code > 0;
};

function needOf({ changes, isTight }: PendingState): CommitNeed {
  let bytes = 0;
  let adds = false;
  for (const { next, previous } of changes) {
    adds ||= next !== undefined;
    bytes += changeBytes((next?.bytes.length ?? 0) + (isTight ? 0 : (previous?.value.length ?? 0)));
  }
  return { bytes, adds };
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
