// Reads of the embedded store's tables: single keys, now and in the past, and the records of the log.
import { nameOf, textOf } from './byte-key.js';
import { DamagedHistory, damagedRecords } from './damage.js';
import type { Tables } from './engine.js';
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

export function getAt(tables: Tables, key: string, revision: number): Version | undefined {
  for (const [at, content] of recordsSince(tables, { revision: revision + 1 })) {
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

/** The engine's limit is 1978. */
export const MAX_KEY_BYTES = 1900;

/** Whether the key exceeds the engine's limit. */
export const isTooLong = (key: string): boolean => key.length > MAX_KEY_BYTES;

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

/** Where in the log a read begins, and where it ends, if before the newest. */
export interface LogSection {
  readonly revision: number;
  /** Of the change in its revision; 0 is the first. */
  readonly place?: number;
  readonly upTo?: number;
}

/**
 * The log from a change on, each record checked. Every revision has a record, and says whether there is a further one, so that
 * a missing record is noticed. Callers must not pass a compacted revision.
 */
export function* recordsSince(
  tables: Tables,
  { revision, place = 0, upTo = Infinity }: LogSection,
): Iterable<[revision: number, content: Buffer, place: number]> {
  let next = Math.max(revision, FIRST_REVISION + 1);
  let at = place;
  const range = { start: encodePlace(next, at), ...(upTo !== Infinity && { end: encodeNumbers(upTo + 1) }) };
  for (const { key, value } of tables.log.getRange(range)) {
    const content = checkedAt(tables, next, at, { key, value });
    yield [next, content, at];
    if (isLastOfRevision(content)) {
      next++;
      at = 0;
    } else at++;
  }
  if (at > 0 || next <= Math.min(upTo, newestRevision(tables.meta))) throw new DamagedHistory(next);
}

/** A record of the log, as the engine has it. */
interface LogRecord {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** The change after one. */
export const placeAfter = (revision: number, place: number, content: Buffer): LogSection =>
  isLastOfRevision(content) ? { revision: revision + 1 } : { revision, place: place + 1 };

/** One change, checked. */
export function recordAt(tables: Tables, revision: number, place: number): Buffer {
  const key = encodePlace(revision, place);
  const value = tables.log.get(key);
  if (value === undefined) throw new DamagedHistory(revision);
  return checkedAt(tables, revision, place, { key, value });
}

function checkedAt({ unchecked }: Tables, revision: number, place: number, { key, value }: LogRecord): Buffer {
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
