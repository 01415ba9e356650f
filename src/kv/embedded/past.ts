// Reads of the embedded store's tables: the current state, a past one (the log undone), and the events of the log.
import type { Database } from 'lmdb';
import type { KeyValue, KvEvent, RangeRequest } from '../kv.js';
import { decodeLog, decodeVersion, encodeNumbers, type LogRecord, numberAt, valueIn, type Version } from './records.js';

export interface Tables {
  readonly current: Database<Buffer, Buffer>;
  readonly log: Database<Buffer, Buffer>;
  readonly expiries: Database<Buffer, Buffer>;
  readonly meta: Database<Buffer, Buffer>;
}

/** The keys of the meta table. */
export const REVISION = Buffer.from('revision');
export const COMPACTED = Buffer.from('compacted');
/** Which build writes, and the revision it began after. */
export const WRITER = Buffer.from('writer');
export const WRITER_SINCE = Buffer.from('writer since');

export function getAt(tables: Tables, key: string, revision: number): Version | undefined {
  for (const record of logSince(tables, revision + 1)) if (record.key === key) return record.previous;
  return currentOf(tables, key);
}

export function rangeAt(
  tables: Tables,
  { start, end, revision = 0, limit = 0, countOnly = false }: RangeRequest,
  newest: number,
): { kvs: KeyValue[]; count: number } {
  // The engine writes into the options it is given, so every call gets its own.
  const bounds = (): { start: Buffer; end: Buffer } => ({ start: Buffer.from(start), end: Buffer.from(end) });
  const undone = revision === 0 || revision >= newest ? new Map<string, Version | undefined>() : undo();
  const now = tables.current.getKeysCount(bounds());
  let count = now;
  for (const [key, version] of undone) {
    if (tables.current.doesExist(Buffer.from(key))) count--;
    if (version !== undefined) count++;
  }
  return { kvs: countOnly ? [] : collect(), count };

  /** What the keys changed since then were: of the first change after it, the version before. */
  function undo(): Map<string, Version | undefined> {
    const versions = new Map<string, Version | undefined>();
    for (const { key, previous } of logSince(tables, revision + 1)) {
      if (key >= start && key < end && !versions.has(key)) versions.set(key, previous);
    }
    return versions;
  }

  /** Merges the current keys that did not change since with the undone ones, in order. */
  function collect(): KeyValue[] {
    const kvs: KeyValue[] = [];
    const old = [...undone].filter(([, version]) => version !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
    let at = 0;
    const full = (): boolean => limit > 0 && kvs.length >= limit;
    const takeOldBefore = (key: string | undefined): void => {
      for (let next = old[at]; next !== undefined && (key === undefined || next[0] < key); next = old[++at]) {
        if (full()) return;
        if (next[1] !== undefined) kvs.push(keyValueOf(next[0], next[1]));
      }
    };
    if (now > 0) {
      for (const { key: bytes, value } of tables.current.getRange(bounds())) {
        const key = bytes.toString();
        takeOldBefore(key);
        if (full()) break;
        if (!undone.has(key)) kvs.push(keyValueOf(key, decodeVersion(value)));
      }
    }
    takeOldBefore(undefined);
    return kvs;
  }
}

/** The events of a prefix from a revision to another, oldest first. */
export function eventsSince(
  tables: Tables,
  wanted: { prefix: string; startRevision: number; endRevision: number; previous: boolean },
): KvEvent[] {
  const records = [...logSince(tables, wanted.startRevision)].filter(({ key }) => key.startsWith(wanted.prefix));
  // What a change wrote is what the next change of the key replaced, or what is there now.
  const written = new Map<string, Version | undefined>();
  const events: KvEvent[] = [];
  for (const record of records.reverse()) {
    const { key, type, revision, createRevision, previous } = record;
    if (revision <= wanted.endRevision) {
      const version = type === 'delete' ? undefined : written.has(key) ? written.get(key) : currentOf(tables, key);
      events.push({
        type,
        key,
        revision,
        createRevision,
        value: version?.value ?? Buffer.alloc(0),
        previous: wanted.previous && previous !== undefined ? keyValueOf(key, previous) : undefined,
      });
    }
    written.set(key, previous);
  }
  return events.reverse();
}

function* logSince({ log }: Tables, revision: number): Iterable<LogRecord> {
  for (const { key, value } of log.getRange({ start: encodeNumbers(revision) })) {
    yield decodeLog(numberAt(key, 0), value);
  }
}

export function currentOf({ current }: Tables, key: string): Version | undefined {
  const bytes = current.get(Buffer.from(key));
  return bytes && decodeVersion(bytes);
}

/** The value of a key, if it is at this revision: a view that the next read changes. */
// hot: every object that is not in memory
export function viewAt({ current }: Tables, key: string, modRevision: number): Buffer | undefined {
  const bytes = current.getBinaryFast(Buffer.from(key));
  return bytes === undefined || numberAt(bytes, 0) !== modRevision ? undefined : valueIn(bytes);
}

/** A version that a change after this revision replaced. */
export function replacedSince(tables: Tables, key: string, modRevision: number, revision: number): Buffer | undefined {
  for (const record of logSince(tables, revision + 1)) {
    if (record.key === key && record.previous?.modRevision === modRevision) return record.previous.value;
  }
  return undefined;
}

export const keyValueOf = (key: string, { value, modRevision, createRevision }: Version): KeyValue => ({
  key,
  value,
  modRevision,
  createRevision,
});
