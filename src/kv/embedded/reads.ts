// What is read of an open store: checked to be open before each step, and failures in the words of the key-value contract.
import { runCooperatively, runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { compacted, futureRevision, KvError } from '../kv.js';
import { byteKeyOf } from './byte-key.js';
import type { Change } from './change.js';
import { type ChangesInRange, changesSteps, type PageOfChanges } from './changes.js';
import { DamagedHistory, engineText } from './damage.js';
import { damaged, type DataFolder } from './folder.js';
import type { Housekeeping } from './housekeeping.js';
import { LongReads } from './long-reads.js';
import type { MovableTables } from './movable-tables.js';
import { get, getAt, replacedSince, viewAt } from './past.js';
import { type KeyRange, type RangePages, rangeSteps } from './range.js';
import type { Version } from './records.js';
import { newestRevision } from './state.js';
import { Successors } from './successors.js';

export const closed = (): KvError => new KvError('closed', 'the store is closed');

export interface ReadsParts {
  readonly tables: MovableTables;
  readonly folder: Pick<DataFolder, 'path' | 'storePath'>;
  readonly log: Logger | undefined;
  /** The last revision whose events have been dispatched. */
  readonly dispatched: () => number;
  /** Fulfilled when everything up to this revision is known to every process that shares the store; undefined where it is. */
  readonly released: (revision: number) => Promise<void> | undefined;
  readonly housekeeping: () => Pick<Housekeeping, 'compact' | 'compacted'>;
}

export class Reads {
  /** Why the file cannot be read, once that was seen. */
  damage: KvError | undefined;
  isClosed = false;
  readonly #parts: ReadsParts;
  readonly #tables: MovableTables;
  readonly #successors: Successors;
  readonly #longReads = new LongReads();

  constructor(parts: ReadsParts) {
    this.#parts = parts;
    this.#tables = parts.tables;
    this.#successors = new Successors(() => this.#compacted);
  }

  get #compacted(): number {
    return this.#parts.housekeeping().compacted;
  }

  checkOpen(): void {
    if (this.isClosed) throw closed();
  }

  /** The newest version of a byte key, and the revision that it was read at. */
  get(key: string): { readonly revision: number; readonly version: Version | undefined } {
    const revision = this.#start(0);
    return { revision, version: this.#reading(revision, () => get(this.#tables, key)) };
  }

  getAt(key: string, revision: number): { readonly revision: number; readonly version: Version | undefined } {
    this.#start(revision);
    return { revision, version: this.#reading(revision + 1, () => getAt(this.#tables, key, revision)) };
  }

  // hot: every object that is not in memory
  view(key: string, modRevision: number): Buffer | undefined {
    this.checkOpen();
    try {
      const byteKey = byteKeyOf(key);
      return viewAt(this.#tables, byteKey, modRevision) ?? this.#viewElsewhere(byteKey, modRevision);
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** The engine's read snapshot of this event-loop turn may predate the version, or include a commit not yet dispatched. */
  #viewElsewhere(key: string, modRevision: number): Buffer | undefined {
    this.#tables.env.resetReadTxn();
    return (
      viewAt(this.#tables, key, modRevision) ??
      replacedSince(this.#tables, key, modRevision, this.#parts.dispatched()) ??
      // For a watch that has stopped listening: a long way, which nobody goes twice.
      replacedSince(this.#tables, key, modRevision, modRevision)
    );
  }

  async range<T, P>(range: KeyRange<T, P>, revision: number): Promise<RangePages<P> & { readonly revision: number }> {
    const found = await this.#longReads.run(() => {
      const newest = this.#start(revision);
      const isNow = revision === 0 || revision === newest;
      return this.#whileOpen(rangeSteps(this.#tables, range, isNow ? 0 : revision), isNow ? newest : revision + 1);
    });
    // The log of a past revision may have been dropped while it was read.
    const oldest = this.#compacted;
    if (revision !== 0 && revision < oldest) throw compacted(revision, oldest);
    const released = this.#parts.released(revision === 0 ? found.revision : revision);
    if (released !== undefined) await released;
    return found;
  }

  /** A page of changes, read by whoever wants it in steps. */
  *changes(request: ChangesInRange, successors: Successors = this.#successors): StepGenerator<PageOfChanges> {
    const page = yield* this.#whileOpen(changesSteps(this.#tables, successors, request), request.startRevision);
    // Its log may have been dropped by now.
    const oldest = this.#compacted;
    if (request.startRevision <= oldest) throw compacted(request.startRevision, oldest);
    return page;
  }

  changesCooperatively(request: ChangesInRange): Promise<PageOfChanges> {
    return runCooperatively(this.changes(request));
  }

  changesAtOnce(request: ChangesInRange): readonly Change[] {
    const changes: Change[] = [];
    // Little has happened, mostly, and the rest of the log need not be read for it.
    const successors = new Successors(() => request.startRevision - 1);
    for (let { startRevision } = request; startRevision <= request.endRevision;) {
      const page = runSync(this.changes({ ...request, startRevision }, successors));
      for (const change of page.changes) changes.push(change);
      startRevision = page.upTo + 1;
    }
    return changes;
  }

  /** The newest revision of the file. */
  onDisk(): number {
    return this.#reading(0, () => newestRevision(this.#tables.meta));
  }

  /** A record that is damaged fails those who want it. Where the engine cannot go on nothing can be relied on any more. */
  failure(error: unknown): KvError {
    if (error instanceof KvError) return error;
    const { folder, log } = this.#parts;
    const failure = damaged(folder.path, `its file store.mdb is damaged: ${engineText(error)}`);
    if (this.damage === undefined) log?.warning(failure.message);
    this.damage ??= failure;
    return failure;
  }

  /**
   * Begins a snapshot and answers its revision, which may be a commit ahead of what the watches have been handed:
   * then that commit is on disk and its events are about to be dispatched.
   */
  #start(revision: number): number {
    this.checkOpen();
    this.#tables.env.resetReadTxn();
    const newest = this.onDisk();
    if (revision > newest) throw futureRevision(revision, newest);
    const oldest = this.#compacted;
    if (revision !== 0 && revision < oldest) throw compacted(revision, oldest);
    return newest;
  }

  /** Checks before each step that the engine is open. `from` is the first revision of the log that is read. */
  *#whileOpen<T>(steps: StepGenerator<T>, from: number): StepGenerator<T> {
    try {
      for (;;) {
        this.checkOpen();
        const { done, value } = this.#reading(from, () => steps.next());
        if (done) return value;
        yield;
      }
    } finally {
      // What is not wanted any more holds no snapshot.
      steps.return(undefined as never);
    }
  }

  /** Runs what reads the file, from this revision of the log on. */
  #reading<T>(from: number, read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw error instanceof DamagedHistory ? this.#historyFailure(error, from) : this.failure(error);
    }
  }

  /** History is not kept for good: what of it cannot be read is dropped, and clients list anew as after any compaction. */
  #historyFailure({ revision, message }: DamagedHistory, from: number): KvError {
    const { folder, log, housekeeping } = this.#parts;
    const oldest = this.#compacted;
    if (from <= oldest) return compacted(from, oldest);
    log?.warning(`${folder.storePath}: ${message}; dropping the history up to it`);
    void housekeeping().compact(revision);
    return compacted(from, revision);
  }
}
