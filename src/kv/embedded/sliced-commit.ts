// A commit of very many writes. The engine has a queue of writes, and its thread begins a transaction soon after the first:
// what is queued by then is in it. Queueing takes this thread some microseconds a write, so very many are queued in slices,
// while another handle of the same file holds the engine's lock of writers:
//
//   this thread       |lock|slice|- others -|slice|- others -|slice|unlock|----- others -----|
//   engine's thread          |............ waits for the lock ............|begin == all == sync|
//
// Between two slices everybody reads the state before the transaction.
import type { RootDatabase } from 'lmdb';
import { runCooperatively, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { TableName } from './engine.js';
import type { RecordWrites, TableWrites } from './table-writes.js';

/** Of a slice, which takes a few milliseconds. */
export const MAX_SLICE_WRITES = 256;
export const MAX_SLICE_BYTES = 256 * 1024;

interface EncodedWrite {
  readonly table: TableName;
  readonly key: Buffer;
  /** Absent where the record is removed. */
  readonly value: Buffer | undefined;
}

/** The writes of a commit that is yet to begin, in slices. */
export class SlicedWrites implements RecordWrites {
  readonly slices: EncodedWrite[][] = [];
  #last: EncodedWrite[] = [];
  #bytes = Infinity;

  put(table: TableName, key: Buffer, value: Buffer): void {
    this.#add({ table, key, value }, key.length + value.length);
  }

  remove(table: TableName, key: Buffer): void {
    this.#add({ table, key, value: undefined }, key.length);
  }

  #add(write: EncodedWrite, bytes: number): void {
    if (this.#bytes + bytes > MAX_SLICE_BYTES || this.#last.length === MAX_SLICE_WRITES) {
      this.#last = [];
      this.#bytes = 0;
      this.slices.push(this.#last);
    }
    this.#last.push(write);
    this.#bytes += bytes;
  }
}

/** `visit` for each; a step is over when it has filled a slice. */
export function* sliceSteps<T>(
  sliced: SlicedWrites,
  items: readonly T[],
  visit: (item: T) => void,
): StepGenerator<void> {
  let count = 0;
  for (const item of items) {
    visit(item);
    if (sliced.slices.length === count) continue;
    count = sliced.slices.length;
    yield;
  }
}

/** The engine has committed what was queued before something threw, and not the rest. */
export class PartialCommit extends Error {}

export interface SlicedCommit {
  readonly env: RootDatabase;
  /** Another handle of the same file. */
  readonly lockHolder: RootDatabase;
  readonly writes: TableWrites;
}

/** Fulfilled when all slices are on disk. Where it fails none is, but for a PartialCommit. */
export async function commitInSlices(
  { env, lockHolder, writes }: SlicedCommit,
  slices: SlicedWrites['slices'],
): Promise<void> {
  const queued: Promise<boolean>[] = [];
  let failure: unknown;
  const unlock = lockWriters(lockHolder);
  try {
    await runCooperatively(queueSteps(env, writes, slices, queued));
  } catch (error) {
    failure = error;
  } finally {
    await unlock();
  }
  await Promise.all(queued);
  if (failure !== undefined) throw new PartialCommit('a commit is not whole', { cause: failure });
}

/** Answers how to unlock them. */
function lockWriters(lockHolder: RootDatabase): () => Promise<void> {
  let release: (() => void) | undefined;
  const held = lockHolder.transactionSync(() => new Promise<void>((resolve) => (release = resolve)));
  return () => {
    release?.();
    return held;
  };
}

function* queueSteps(
  env: RootDatabase,
  writes: TableWrites,
  slices: SlicedWrites['slices'],
  queued: Promise<boolean>[],
): StepGenerator<void> {
  for (const slice of slices) {
    queued.push(env.batch(() => queueAll(writes, slice)));
    yield;
  }
}

function queueAll(writes: TableWrites, slice: readonly EncodedWrite[]): void {
  for (const { table, key, value } of slice) {
    if (value === undefined) writes.remove(table, key);
    else writes.put(table, key, value);
  }
}
