// Group commit. Transactions queue; one commit runs at a time and includes all that queued meanwhile, so that concurrent
// writers share one sync. Each sees the state that those before it leave (pending-state.ts). When a commit is on disk its
// changes are dispatched, and only then are the writers answered.
import type { RootDatabase } from 'lmdb';
import type { Clock } from '../../lib/async/clock.js';
import { runCooperatively, type StepGenerator } from '../../lib/scheduling/yield.js';
import { KvError } from '../kv.js';
import { changeBytes, type CommitNeed, furtherChangeBytes, MAX_FEW_CHANGES } from './allocation.js';
import type { Change } from './change.js';
import { writeChange } from './change-records.js';
import type { CommitHold } from './commit-hold.js';
import { CommitPlace, type LoopTimes } from './commit-place.js';
import { engineText } from './damage.js';
import { spaceExceeded } from './folder.js';
import { LastWritten } from './last-written.js';
import type { Leases } from './leases.js';
import type { Tables } from './engine.js';
import { PendingState } from './pending-state.js';
import type { Room } from './room.js';
import { commitInSlices, PartialCommit, SlicedWrites, sliceSteps } from './sliced-commit.js';
import { revisionRecord, type Totals } from './state.js';
import type { RecordWrites, TableWrites } from './table-writes.js';

/** The most writes in one commit. */
const MAX_BATCH = 1024;
/** Where there is no room on the disk: what is kept for deletes suffices for so many. */
const MAX_TIGHT_BATCH = 8;
const IN_PLACE_MAX_CHANGES = 64;

/** Reads and changes the state. One that throws changes nothing, and fails with what it threw. */
export type Transaction<T> = (state: PendingState) => T;

/** One that may change very many keys: it is evaluated in steps, and other transactions wait until it is over. */
export type LongTransaction<T> = (state: PendingState) => StepGenerator<T>;

/** Writes that go with whichever commit is next. */
interface Chore {
  readonly run: (writes: RecordWrites) => void;
  /** Called after it, whether it succeeded or not. */
  readonly done: () => void;
}

/** What a transaction throws to be refused for a reason of its own. */
export class TransactionRefused extends Error {}

export interface TransactionResult<T> {
  readonly result: T;
  /** The store's after it. */
  readonly revision: number;
}

/** A transaction, and what became of it. */
interface QueuedTransaction {
  readonly run: { readonly at: Transaction<unknown> } | { readonly inSteps: LongTransaction<unknown> };
  readonly resolve: (result: TransactionResult<unknown>) => void;
  readonly reject: (error: unknown) => void;
  /** It was tried once, and there was no room for it. */
  isRetried: boolean;
  /** It changed something, and deletes were all. */
  onlyDeletes: boolean;
  /** Once it was evaluated: one of both. */
  result: TransactionResult<unknown> | undefined;
  failure: unknown;
}

/** Hands committed changes to whoever follows them. */
export interface Dispatch {
  dispatch(changes: readonly Change[]): void;
  /** In place of `dispatch` for very many: in steps, before the store's revision is theirs, and the rest of it after that. */
  collectSteps(changes: readonly Change[]): StepGenerator<void>;
  deliver(changes: readonly Change[]): void;
}

export class Commits {
  /** The last revision whose events have been dispatched. */
  revision: number;
  /** Where other processes share the store. */
  hold: CommitHold | undefined;
  /** Why the last commit failed, if it did. */
  failure: KvError | undefined;
  readonly #tables: Tables;
  readonly #writes: TableWrites;
  readonly #openBeside: () => RootDatabase;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #room: Room;
  readonly #dropHistory: (writes: RecordWrites, revision: number) => void;
  readonly #leases: Leases;
  readonly #dispatch: Dispatch;
  readonly #lastWritten = new LastWritten();
  readonly #readFailure: (error: unknown) => KvError;
  #totals: Totals;
  /** The last revision on disk. */
  #committed: number;
  #queue: QueuedTransaction[] = [];
  /** Housekeeping that goes with the next commit. */
  #chores: Chore[] = [];
  /** What runs between two commits. */
  readonly #exclusive: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  /** The system refused a write of the engine, whose memory is not to be relied on from then on, or a commit is not whole: nothing is written any more. */
  #broken: KvError | undefined;
  readonly #place: CommitPlace;
  /** The writes of the commit before. */
  #lastCount = 1;

  constructor(options: {
    tables: Tables;
    writes: TableWrites;
    /** Another handle of the same file. */
    openBeside: () => RootDatabase;
    folder: string;
    clock: Clock;
    room: Room;
    leases: Leases;
    dropHistory: (writes: RecordWrites, revision: number) => void;
    revision: number;
    totals: Totals;
    dispatch: Dispatch;
    /** What it means that the file could not be read. */
    readFailure: (error: unknown) => KvError;
    /** This thread's, unless a test has its own. */
    loopTimes?: () => LoopTimes;
  }) {
    this.#tables = options.tables;
    this.#writes = options.writes;
    this.#openBeside = options.openBeside;
    this.#folder = options.folder;
    this.#clock = options.clock;
    this.#room = options.room;
    this.#leases = options.leases;
    this.#dropHistory = options.dropHistory;
    this.#dispatch = options.dispatch;
    this.#readFailure = options.readFailure;
    this.#totals = options.totals;
    this.#place = new CommitPlace(options.loopTimes);
    this.revision = options.revision;
    this.#committed = options.revision;
  }

  transact<T>(transaction: Transaction<T>): Promise<TransactionResult<T>> {
    return this.#enqueue({ at: transaction });
  }

  transactInSteps<T>(transaction: LongTransaction<T>): Promise<TransactionResult<T>> {
    return this.#enqueue({ inSteps: transaction });
  }

  #enqueue<T>(run: QueuedTransaction['run']): Promise<TransactionResult<T>> {
    return new Promise((resolve, reject) => {
      this.#queue.push({
        run,
        resolve: resolve as (result: TransactionResult<unknown>) => void,
        reject,
        isRetried: false,
        onlyDeletes: false,
        result: undefined,
        failure: undefined,
      });
      this.#run();
    });
  }

  /** What it writes is part of a commit; fulfilled after it, whether it succeeded or not. */
  chore(run: Chore['run']): Promise<void> {
    return new Promise((done) => {
      this.#chores.push({ run, done });
      this.#run();
    });
  }

  /** Runs while no commit does; commits wait until it is over. */
  exclusively<T>(run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#exclusive.push(() => run().then(resolve, reject));
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
    while (this.#queue.length > 0 || this.#chores.length > 0 || this.#exclusive.length > 0) {
      if (this.#exclusive.length > 0) await this.#exclusive.shift()?.();
      const chores = this.#chores;
      this.#chores = [];
      await this.#commit(this.#takeQueued(), chores);
      for (const { done } of chores) done();
    }
    // Cleared synchronously with the check that found the queue empty, so that the next writer starts a new loop.
    this.#running = undefined;
  }

  #takeQueued(): readonly QueuedTransaction[] {
    const waiting = this.#queue;
    const count = this.#nextCount();
    this.#queue = count === waiting.length ? [] : waiting.slice(count);
    return count === waiting.length ? waiting : waiting.slice(0, count);
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
  async #commit(queued: readonly QueuedTransaction[], chores: readonly Chore[]): Promise<void> {
    this.#tables.env.resetReadTxn();
    const state = new PendingState({
      tables: this.#tables,
      lastWritten: this.#lastWritten,
      room: this.#room,
      leases: this.#leases,
      atMs: this.#clock.now(),
      revision: this.#committed,
      totals: this.#totals,
    });
    for (const one of queued) {
      const evaluated = this.#evaluate(one, state);
      if (evaluated !== undefined) await evaluated;
    }
    if (state.changes.length > 0 || state.grants.size > 0 || chores.length > 0) {
      try {
        if (this.#broken !== undefined) throw this.#broken;
        const allocated = this.#room.allocate(this.#needOf(state));
        if (allocated !== true && !(await allocated)) throw spaceExceeded();
        const written = this.#write(queued.length, state, chores);
        if (written !== undefined) await written;
        this.failure = undefined;
      } catch (error) {
        this.#lastWritten.clear();
        this.failure = this.#commitFailure(await reasonOf(error));
        this.#refuse(queued, this.failure);
        return;
      }
    }
    const { revision, changes } = state;
    // Where commits are held back they are released one by one, whenever that is.
    const isCollected = this.hold === undefined && isMany(changes);
    if (isCollected) await runCooperatively(this.#dispatch.collectSteps(changes));
    this.#committed = revision;
    this.#totals = state.totals;
    if (isMany(changes)) this.#lastWritten.clear();
    else for (const { key, next } of changes) this.#lastWritten.set(key, next);
    this.#leases.apply(state.grants);
    const release = (): void => {
      this.revision = revision;
      if (isCollected) this.#dispatch.deliver(changes);
      else if (changes.length > 0) this.#dispatch.dispatch(changes);
      for (const one of queued) answer(one);
    };
    if (this.hold === undefined) release();
    else this.hold.committed(revision, changes, release);
  }

  /** A promise where it takes several steps. */
  #evaluate(queued: QueuedTransaction, state: PendingState): Promise<void> | undefined {
    const { run } = queued;
    state.begin(queued.isRetried);
    try {
      if ('at' in run) return succeed(queued, state, run.at(state));
      // Most are over after their first step.
      const steps = run.inSteps(state);
      const { done, value } = steps.next();
      if (done === true) return succeed(queued, state, value);
      return runCooperatively(steps).then(
        (result) => succeed(queued, state, result),
        (error: unknown) => this.#fail(queued, state, error),
      );
    } catch (error) {
      return this.#fail(queued, state, error);
    }
  }

  #fail(queued: QueuedTransaction, state: PendingState, error: unknown): undefined {
    state.rollBack();
    queued.result = undefined;
    queued.failure = error instanceof TransactionRefused ? error : this.#readFailure(error);
  }

  /** Deletes that there was no room for are tried once more, without the history of what they replace. */
  #refuse(queued: readonly QueuedTransaction[], failure: KvError): void {
    const isFull = failure.code === 'disk-full';
    const again: QueuedTransaction[] = [];
    for (const one of queued) {
      if (isFull && one.onlyDeletes && !one.isRetried) {
        one.isRetried = true;
        again.push(one);
      } else one.reject(failure);
    }
    this.#queue = [...again, ...this.#queue];
  }

  /**
   * Single writes may be committed on this thread (commit-place.ts). Larger commits run on the engine's thread, and so does
   * a single write among larger commits, because this thread then has other requests to serve. A promise where it does not
   * run here.
   */
  #write(writeCount: number, state: PendingState, chores: readonly Chore[]): Promise<unknown> | undefined {
    const alone = writeCount === 1 && this.#lastCount === 1 && state.changes.length <= IN_PLACE_MAX_CHANGES;
    this.#lastCount = writeCount;
    if (isMany(state.changes)) return this.#writeInSlices(state, chores);
    const { env } = this.#tables;
    const action = (): void => {
      for (const change of state.changes) writeChange(this.#writes, change, state);
      this.#writeFurther(this.#writes, state, chores);
    };
    if (!alone) return env.batch(action);
    const beganMs = performance.now();
    const here = this.#place.begins();
    const ended = (): void => this.#place.ended(performance.now() - beganMs, here);
    if (!here) return env.batch(action).then(ended);
    env.transactionSync(action);
    ended();
    return undefined;
  }

  async #writeInSlices(state: PendingState, chores: readonly Chore[]): Promise<void> {
    const sliced = new SlicedWrites();
    await runCooperatively(sliceSteps(sliced, state.changes, (change) => writeChange(sliced, change, state)));
    this.#writeFurther(sliced, state, chores);
    const lockHolder = this.#openBeside();
    try {
      await commitInSlices({ env: this.#tables.env, lockHolder, writes: this.#writes }, sliced.slices);
    } finally {
      await lockHolder.close();
    }
  }

  /** What a commit writes beside its changes. */
  #writeFurther(
    writes: RecordWrites,
    { grants, isTight, revision, totals }: PendingState,
    chores: readonly Chore[],
  ): void {
    this.#leases.write(writes, grants);
    for (const chore of chores) chore.run(writes);
    if (isTight) this.#dropHistory(writes, revision);
    writes.put('meta', ...revisionRecord(revision, totals));
  }

  #needOf({ changes, isTight }: PendingState): CommitNeed {
    let bytes = 0;
    let furtherBytes = 0;
    let adds = false;
    for (const { name, next, record, previous } of changes) {
      adds ||= next !== undefined;
      const valueBytes = record.length + (isTight ? 0 : (previous?.value.length ?? 0));
      bytes += changeBytes(valueBytes);
      furtherBytes += furtherChangeBytes(valueBytes, name.length);
    }
    return { bytes: isMany(changes) ? Math.min(bytes, this.#room.size().usedBytes + furtherBytes) : bytes, adds };
  }

  #commitFailure(error: unknown): KvError {
    if (error instanceof KvError) return error;
    const failure = new KvError('unavailable', `cannot write to ${this.#folder}: ${engineText(error)}`, {
      cause: error,
    });
    if (isOfSystem(error) || error instanceof PartialCommit) this.#broken = failure;
    return failure;
  }
}

function succeed(queued: QueuedTransaction, state: PendingState, result: unknown): undefined {
  state.end();
  queued.onlyDeletes = state.hasChanged && state.onlyDeletes;
  queued.result = { result, revision: state.revision };
}

function answer({ result, failure, resolve, reject }: QueuedTransaction): void {
  if (result === undefined) reject(failure);
  else resolve(result);
}

/** The engine's own codes are negative. */
const isOfSystem = (error: unknown): boolean => {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'number' && code > 0;
};

const isMany = ({ length }: readonly unknown[]): boolean => length > MAX_FEW_CHANGES;

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
