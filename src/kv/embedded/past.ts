// Reads of the embedded store's tables: the current state, and a past one (the log undone).
import type { Database, RootDatabase } from 'lmdb';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import type { DamagedRecord, KeyValue, RangeRequest, RangeResult } from '../kv.js';
import { DamagedHistory, damagedRecords, MAX_NAMED } from './damage.js';
import {
  checkedLog,
  decodeLog,
  decodeVersion,
  encodeNumbers,
  modRevisionOf,
  numberAt,
  type StoredVersion,
  valueIn,
  type Version,
} from './records.js';
import { FIRST_REVISION, newestRevision } from './state.js';

export interface Tables {
  readonly current: Database<Buffer, Buffer>;
  readonly log: Database<Buffer, Buffer>;
  readonly expiries: Database<Buffer, Buffer>;
  readonly meta: Database<Buffer, Buffer>;
  /** Records that may lack a checksum: those of `current`, and those of `log` up to a revision. */
  readonly unchecked: { readonly current: boolean; readonly logUntil: number };
}

export function getAt(tables: Tables, key: string, revision: number): KeyValue | undefined {
  for (const [at, content] of recordsSince(tables, revision + 1)) {
    const record = decodeLog(at, content);
    if (record.key === key) return record.previous && keyValueOf(key, record.previous);
  }
  return get(tables, key);
}

/** Fails where the record is damaged. */
export function get(tables: Tables, key: string): KeyValue | undefined {
  const version = currentOf(tables, key);
  if (version?.isDamaged) throw damagedRecords([{ key, revision: version.modRevision }]);
  return version && keyValueOf(key, version);
}

/** What a key was before it changed, and whether it is there now. */
interface Undone {
  readonly before: Version | undefined;
  isThere: boolean;
}

/** A range as it was after a revision. */
export function* rangeSteps(
  env: RootDatabase,
  tables: Tables,
  request: RangeRequest & { readonly revision: number },
): StepGenerator<RangeResult> {
  const { start, end, revision } = request;
  const undone = new Map<string, Undone>();
  const page = new Page();
  let next = revision + 1;
  for (;;) {
    env.resetReadTxn();
    page.begin();
    for (const [at, content] of recordsSince(tables, next)) {
      next = at + 1;
      const { key, type, previous } = decodeLog(at, content);
      if (key >= start && key < end) {
        const known = undone.get(key);
        if (known === undefined) undone.set(key, { before: previous, isThere: type === 'put' });
        else known.isThere = type === 'put';
      }
      if (page.isFullWith(content)) break;
    }
    // The state is read in the snapshot that the last of the log was read in.
    if (!page.isFull) return { revision: next - 1, ...rangeAt(tables, request, undone) };
    yield;
  }
}

/** The engine's limit is 1978. */
export const MAX_KEY_BYTES = 1900;

/** Whether the key exceeds the engine's limit. A UTF-16 code unit is three bytes at most. */
export const isTooLong = (key: string): boolean =>
  key.length * 3 > MAX_KEY_BYTES && Buffer.byteLength(key) > MAX_KEY_BYTES;

const NOTHING_UNDONE: ReadonlyMap<string, Undone> = new Map();

export function rangeAt(
  tables: Tables,
  { start, end, limit = 0, countOnly = false }: RangeRequest,
  undone = NOTHING_UNDONE,
): { kvs: KeyValue[]; count: number } {
  // The engine mutates its options, so every call gets a new object.
  const bounds = (): { start: Buffer; end: Buffer } => ({ start: boundOf(start), end: boundOf(end) });
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
  function collect(): KeyValue[] {
    const kvs: KeyValue[] = [];
    const old = [...undone].filter(([, { before }]) => before !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
    let at = 0;
    let seen = 0;
    const full = (): boolean => limit > 0 && kvs.length >= limit;
    const takeOldBefore = (key: string | undefined): void => {
      for (let next = old[at]; next !== undefined && (key === undefined || next[0] < key); next = old[++at]) {
        if (full()) return;
        if (next[1].before !== undefined) kvs.push(keyValueOf(next[0], next[1].before));
      }
    };
    if (now > 0) {
      for (const { key: bytes, value } of tables.current.getRange(bounds())) {
        const key = bytes.toString();
        takeOldBefore(key);
        if (full()) break;
        seen++;
        if (undone.has(key)) continue;
        const version = decodeVersion(bytes, value, tables.unchecked.current);
        if (version.isDamaged) damaged.push({ key, revision: version.modRevision });
        else kvs.push(keyValueOf(key, version));
        if (damaged.length >= MAX_NAMED) return kvs;
      }
      if (!full() && seen !== now) throw new Error(`${now} keys are counted, ${seen} are found`);
    }
    takeOldBefore(undefined);
    return kvs;
  }
}

/**
 * Callers may pass text of any length. A text beyond the limit sorts among stored keys as its prefix of one byte more than
 * the limit does.
 */
const boundOf = (key: string): Buffer =>
  isTooLong(key) ? Buffer.from(key).subarray(0, MAX_KEY_BYTES + 1) : Buffer.from(key);

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
 * The log from a revision on, up to another if the caller passes one, each record checked. Every revision has a record, so
 * that a missing record is noticed. Callers must not pass a compacted revision.
 */
export function* recordsSince(
  tables: Tables,
  from: number,
  to = Infinity,
): Iterable<[revision: number, content: Buffer]> {
  let next = Math.max(from, FIRST_REVISION + 1);
  const range = { start: encodeNumbers(next), ...(to !== Infinity && { end: encodeNumbers(to + 1) }) };
  for (const { key, value } of tables.log.getRange(range)) {
    yield [next, checkedAt(tables, next, key, value)];
    next++;
  }
  if (next <= Math.min(to, newestRevision(tables.meta))) throw new DamagedHistory(next);
}

/** One change, checked. */
export function recordAt(tables: Tables, revision: number): Buffer {
  const key = encodeNumbers(revision);
  const value = tables.log.get(key);
  if (value === undefined) throw new DamagedHistory(revision);
  return checkedAt(tables, revision, key, value);
}

function checkedAt({ unchecked }: Tables, revision: number, key: Buffer, value: Buffer): Buffer {
  const isThere = key.length === encodeNumbers(0).length && numberAt(key, 0) === revision;
  const content = isThere ? checkedLog(revision, value, revision <= unchecked.logUntil) : undefined;
  if (content === undefined) throw new DamagedHistory(revision);
  return content;
}

export function currentOf({ current, unchecked }: Tables, key: string): StoredVersion | undefined {
  if (isTooLong(key)) return undefined;
  const name = Buffer.from(key);
  const bytes = current.get(name);
  return bytes && decodeVersion(name, bytes, unchecked.current);
}

/** The value of a key, if it is at this revision: a view that the next read changes. Fails where it is damaged. */
// hot: every object that is not in memory
export function viewAt({ current, unchecked }: Tables, key: string, modRevision: number): Buffer | undefined {
  const name = Buffer.from(key);
  const shared = current.getBinaryFast(name);
  if (shared === undefined || modRevisionOf(shared) !== modRevision) return undefined;
  const value = valueIn(name, shared, unchecked.current);
  if (value === undefined) throw damagedRecords([{ key, revision: modRevision }]);
  return value;
}

/** A version that a change after this revision replaced. What was compacted meanwhile is passed over. */
export function replacedSince(tables: Tables, key: string, modRevision: number, revision: number): Buffer | undefined {
  for (const { key: at, value } of tables.log.getRange({ start: encodeNumbers(revision + 1) })) {
    const content = checkedLog(numberAt(at, 0), value, numberAt(at, 0) <= tables.unchecked.logUntil);
    const record = content && decodeLog(numberAt(at, 0), content);
    if (record?.key === key && record.previous?.modRevision === modRevision) return record.previous.value;
  }
  return undefined;
}

export const keyValueOf = (key: string, { value, modRevision, createRevision }: Version): KeyValue => ({
  key,
  value,
  modRevision,
  createRevision,
});
