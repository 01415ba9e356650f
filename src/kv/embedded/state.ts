// The counters of the store's meta table, changed in the same commit as what they count.
//
//   "revision"    → revision count keySum sum checksum   of `current`: how many keys, the sum of their hashes, and that of their
//                                                        records' checksums: one that is missing, or an older one, changes it
//   "compacted"   → revision checksum
//   "checksums"   → revision checksum                    log records up to this revision may lack a checksum, all later ones
//                                                        and those of `current` have one; absent until an older folder is
//                                                        brought up
import type { Database, GetOptions } from 'lmdb';
import { hashOf } from './checksum.js';
import { decodeChecked, encodeChecked, numberAt } from './records.js';

const REVISION = Buffer.from('revision');
const COMPACTED = Buffer.from('compacted');
const CHECKSUMS = Buffer.from('checksums');
/** Of a new store; its first change makes the next. */
export const FIRST_REVISION = 1;
const SUM_MODULUS = 2 ** 48;

type Meta = Database<Buffer, Buffer>;

export interface Totals {
  readonly count: number;
  readonly keySum: number;
  readonly sum: number;
}

export const NO_TOTALS: Totals = { count: 0, keySum: 0, sum: 0 };

/** With one key more, which stands in `bytes`. */
export const addKey = (keySum: number, bytes: Buffer, from: number, to: number): number =>
  (keySum + hashOf(bytes, from, to)) % SUM_MODULUS;

/** After a change of one key from a record to another; either may be absent. */
// hot: every write
export function changeTotals(
  { count, keySum, sum }: Totals,
  name: Buffer,
  previous: { readonly checksum: number } | undefined,
  next: { readonly checksum: number } | undefined,
): Totals {
  const added = (next === undefined ? 0 : 1) - (previous === undefined ? 0 : 1);
  const keyChange = added === 0 ? 0 : added * hashOf(name);
  return {
    count: count + added,
    keySum: (keySum + keyChange + SUM_MODULUS) % SUM_MODULUS,
    sum: (sum + (next?.checksum ?? 0) - (previous?.checksum ?? 0) + SUM_MODULUS) % SUM_MODULUS,
  };
}

/** In what the keys and values that are there differ from those that were written. */
export function totalFaults(found: Totals, written: Totals): string[] {
  if (found.count !== written.count) return [`${found.count} keys are there, and ${written.count} were written`];
  if (found.keySum !== written.keySum) return ['other keys are there than were written'];
  return found.sum === written.sum ? [] : ['a value is there that is sound, and not the last that was written'];
}

/** Undefined for a new store. Totals are missing where an earlier build wrote last. */
export function readRevision(
  meta: Meta,
  options?: GetOptions,
): { readonly revision: number; readonly totals: Totals | undefined } | undefined {
  const numbers = read(meta, REVISION, options);
  if (numbers === undefined) return undefined;
  const [revision = 0, count, keySum, sum] = numbers;
  const isWhole = count !== undefined && keySum !== undefined && sum !== undefined;
  return { revision, totals: isWhole ? { count, keySum, sum } : undefined };
}

/** Only the revision, of counters that were checked when the store was opened. */
// hot: every read
export function newestRevision(meta: Meta): number {
  const bytes = meta.get(REVISION);
  return bytes === undefined ? 0 : numberAt(bytes, 0);
}

// hot: every commit
export const revisionRecord = (revision: number, { count, keySum, sum }: Totals): [Buffer, Buffer] => [
  REVISION,
  encodeChecked(REVISION, revision, count, keySum, sum),
];

export const readCompacted = (meta: Meta): number => read(meta, COMPACTED)?.[0] ?? 0;

export const compactedRecord = (revision: number): [Buffer, Buffer] => [COMPACTED, encodeChecked(COMPACTED, revision)];

/** Undefined while records may lack a checksum. */
export const readCheckedSince = (meta: Meta): number | undefined => read(meta, CHECKSUMS)?.[0];

export const checkedSinceRecord = (revision: number): [Buffer, Buffer] => [
  CHECKSUMS,
  encodeChecked(CHECKSUMS, revision),
];

/** Counters without a checksum are an earlier build's, and as long as "checksums" is missing they are believed. */
function read(meta: Meta, name: Buffer, options?: GetOptions): readonly number[] | undefined {
  const bytes = meta.get(name, options);
  if (bytes === undefined) return undefined;
  const decoded = decodeChecked(name, bytes);
  if (decoded === undefined || (decoded.isUnchecked && meta.get(CHECKSUMS, options) !== undefined)) {
    throw new Error(`its counter "${name.toString()}" is not what was written`);
  }
  return decoded.numbers;
}
