// Reads of the embedded store's tables: the current state, and a past one (the log undone).
import type { Database, RootDatabase } from 'lmdb';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import type { DamagedRecord } from '../kv.js';
import { byteKeyIn, nameOf, textOf } from './byte-key.js';
import { DamagedHistory, damagedRecords, MAX_NAMED } from './damage.js';
import {
  checkedLog,
  decodeLog,
  decodeVersion,
  encodeNumbers,
  encodePlace,
  isLastOfRevision,
  isPlace,
  keyOfLog,
  modRevisionOf,
  placeIn,
  type StoredVersion,
  valueIn,
  type Version,
} from './records.js';
import { FIRST_REVISION, newestRevision } from './state.js';

export interface Tables {
  readonly current: Database<Buffer, Buffer>;
  readonly log: Database<Buffer, Buffer>;
  readonly expiries: Database<Buffer, Buffer>;
  readonly leases: Database<Buffer, Buffer>;
  readonly leased: Database<Buffer, Buffer>;
  readonly meta: Database<Buffer, Buffer>;
  /** Records that may lack a checksum: those of `current`, and those of `log` up to a revision. */
  readonly unchecked: { readonly current: boolean; readonly logUntil: number };
}

/** Keys in a range; each is made of its key and its version. All keys are byte keys (byte-key.ts). */
export interface KeyRange<T> {
  readonly start: string;
  /** First key no longer wanted; absent where there is no end. */
  readonly end: string | undefined;
  /** 0 for all. */
  readonly limit: number;
  readonly countOnly: boolean;
  readonly make: (key: string, version: Version) => T;
}

export function getAt(tables: Tables, key: string, revision: number): Version | undefined {
  for (const [at, content] of recordsSince(tables, revision + 1)) {
    if (keyOfLog(content) === key) return decodeLog(at, content).previous;
  }
  return get(tables, key);
}

/** Fails where the record is damaged. */
export function get(tables: Tables, key: string): Version | undefined {
  const version = currentOf(tables, key);
  if (version?.isDamaged) throw damagedRecords([{ key: textOf(key), revision: version.modRevision }]);
  return version;
}

/** What a key was before it changed, and whether it is there now. */
interface Undone {
  readonly before: Version | undefined;
  isThere: boolean;
}

/** A range as it was after a revision, and the revision of the store. */
export function* rangeSteps<T>(
  env: RootDatabase,
  tables: Tables,
  range: KeyRange<T>,
  revision: number,
): StepGenerator<{ readonly revision: number; readonly kvs: T[]; readonly count: number }> {
  const { start, end } = range;
  const undone = new Map<string, Undone>();
  const page = new Page();
  let next = revision + 1;
  for (;;) {
    env.resetReadTxn();
    page.begin();
    for (const [at, content] of recordsSince(tables, next)) {
      next = at + 1;
      const { key, type, previous } = decodeLog(at, content);
      if (key >= start && (end === undefined || key < end)) {
        const known = undone.get(key);
        if (known === undefined) undone.set(key, { before: previous, isThere: type === 'put' });
        else known.isThere = type === 'put';
      }
      if (page.isFullWith(content) && isLastOfRevision(content)) break;
    }
    // The state is read in the snapshot that the last of the log was read in.
    if (!page.isFull) return { revision: next - 1, ...rangeAt(tables, range, undone) };
    yield;
  }
}

/** The engine's limit is 1978. */
export const MAX_KEY_BYTES = 1900;

/** Whether the key exceeds the engine's limit. */
export const isTooLong = (key: string): boolean => key.length > MAX_KEY_BYTES;

const NOTHING_UNDONE: ReadonlyMap<string, Undone> = new Map();

export function rangeAt<T>(
  tables: Tables,
  { start, end, limit, countOnly, make }: KeyRange<T>,
  undone = NOTHING_UNDONE,
): { kvs: T[]; count: number } {
  // The engine mutates its options, so every call gets a new object.
  const bounds = (): { start: Buffer; end?: Buffer } => ({
    start: boundOf(start),
    ...(end !== undefined && { end: boundOf(end) }),
  });
  const now = tables.current.getKeysCount(bounds());
  let count = now;
  for (const { before, isThere } of undone.values()) {
    if (isThere) count--;
    if (before !== undefined) count++;
  }
  const damaged: DamagedRecord[] = [];
  const found = countOnly ? [] : collect();
  if (damaged.length > 0) throw damagedRecords(damaged);
  return { kvs: found, count };

  /** Merges the current keys that did not change since with the undone ones, in order. */
  function collect(): T[] {
    const kvs: T[] = [];
    const old = [...undone].filter(([, { before }]) => before !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
    let at = 0;
    let seen = 0;
    const full = (): boolean => limit > 0 && kvs.length >= limit;
    const takeOldBefore = (key: string | undefined): void => {
      for (let next = old[at]; next !== undefined && (key === undefined || next[0] < key); next = old[++at]) {
        if (full()) return;
        if (next[1].before !== undefined) kvs.push(make(next[0], next[1].before));
      }
    };
    if (now > 0) {
      for (const { key: bytes, value } of tables.current.getRange(bounds())) {
        const key = byteKeyIn(bytes);
        takeOldBefore(key);
        if (full()) break;
        seen++;
        if (undone.has(key)) continue;
        const version = decodeVersion(bytes, value, tables.unchecked.current);
        if (version.isDamaged) damaged.push({ key: textOf(key), revision: version.modRevision });
        else kvs.push(make(key, version));
        if (damaged.length >= MAX_NAMED) return kvs;
      }
      if (!full() && seen !== now) throw new Error(`${now} keys are counted, ${seen} are found`);
    }
    takeOldBefore(undefined);
    return kvs;
  }
}

/**
 * Callers may pass keys of any length. A key beyond the limit sorts among stored keys as its prefix of one byte more than
 * the limit does.
 */
const boundOf = (key: string): Buffer => nameOf(isTooLong(key) ? key.slice(0, MAX_KEY_BYTES + 1) : key);

const PAGE_RECORDS = 1_000;
const PAGE_BYTES = 1024 * 1024;

/** So much of the log as is read in a few milliseconds. */
export class Page {
  #records = 0;
  #bytes = 0;

  begin(): void {
    this.#records = 0;
    this.#bytes = 0;
  }

  isFullWith({ length }: Buffer): boolean {
    this.#records++;
    this.#bytes += length;
    return this.isFull;
  }

  get isFull(): boolean {
    return this.#records >= PAGE_RECORDS || this.#bytes >= PAGE_BYTES;
  }
}

/**
 * The log from a revision on, up to another if the caller passes one, each record checked. Every revision has a record, and
 * says whether there is a further one, so that a missing record is noticed. Callers must not pass a compacted revision.
 */
export function* recordsSince(
  tables: Tables,
  from: number,
  to = Infinity,
): Iterable<[revision: number, content: Buffer, place: number]> {
  let next = Math.max(from, FIRST_REVISION + 1);
  let place = 0;
  const range = { start: encodeNumbers(next), ...(to !== Infinity && { end: encodeNumbers(to + 1) }) };
  for (const { key, value } of tables.log.getRange(range)) {
    const content = checkedAt(tables, next, place, key, value);
    yield [next, content, place];
    if (isLastOfRevision(content)) {
      next++;
      place = 0;
    } else place++;
  }
  if (place > 0 || next <= Math.min(to, newestRevision(tables.meta))) throw new DamagedHistory(next);
}

/** One change, checked. */
export function recordAt(tables: Tables, revision: number, place: number): Buffer {
  const key = encodePlace(revision, place);
  const value = tables.log.get(key);
  if (value === undefined) throw new DamagedHistory(revision);
  return checkedAt(tables, revision, place, key, value);
}

function checkedAt({ unchecked }: Tables, revision: number, place: number, key: Buffer, value: Buffer): Buffer {
  const isThere = isPlace(key, revision, place);
  const content = isThere ? checkedLog(revision, place, value, revision <= unchecked.logUntil) : undefined;
  if (content === undefined) throw new DamagedHistory(revision);
  return content;
}

export function currentOf({ current, unchecked }: Tables, key: string): StoredVersion | undefined {
  if (isTooLong(key)) return undefined;
  const name = nameOf(key);
  const bytes = current.get(name);
  return bytes && decodeVersion(name, bytes, unchecked.current);
}

/** The value of a key, if it is at this revision: a view that the next read changes. Fails where it is damaged. */
// hot: every object that is not in memory
export function viewAt({ current, unchecked }: Tables, key: string, modRevision: number): Buffer | undefined {
  const name = nameOf(key);
  const shared = current.getBinaryFast(name);
  if (shared === undefined || modRevisionOf(shared) !== modRevision) return undefined;
  const value = valueIn(name, shared, unchecked.current);
  if (value === undefined) throw damagedRecords([{ key: textOf(key), revision: modRevision }]);
  return value;
}

/** A version that a change after this revision replaced. What was compacted meanwhile is passed over. */
export function replacedSince(tables: Tables, key: string, modRevision: number, revision: number): Buffer | undefined {
  const isUnchecked = (at: number): boolean => at <= tables.unchecked.logUntil;
  for (const { key: name, value } of tables.log.getRange({ start: encodeNumbers(revision + 1) })) {
    const { revision: at, place } = placeIn(name);
    const content = checkedLog(at, place, value, isUnchecked(at));
    const record = content && decodeLog(at, content);
    if (record?.key === key && record.previous?.modRevision === modRevision) return record.previous.value;
  }
  return undefined;
}
