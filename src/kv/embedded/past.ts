// Reads of the embedded store's tables: the current state, a past one (the log undone), and the events of the log.
import type { Database, RootDatabase } from 'lmdb';
import type { Steps } from '../../lib/turns.js';
import type { ChangesRequest, KeyValue, KvEvent, RangeRequest, RangeResult } from '../kv.js';
import {
  decodeLog,
  decodeVersion,
  encodeNumbers,
  hasPrefix,
  type LogRecord,
  numberAt,
  valueIn,
  type Version,
} from './records.js';

const NO_BYTES = Buffer.alloc(0);

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
): Steps<RangeResult> {
  const { start, end, revision } = request;
  const undone = new Map<string, Undone>();
  const page = new Page();
  let next = revision + 1;
  for (;;) {
    env.resetReadTxn();
    page.begin();
    for (const [at, bytes] of recordsSince(tables, next)) {
      next = at + 1;
      const { key, type, previous } = decodeLog(at, bytes);
      if (key >= start && key < end) {
        const known = undone.get(key);
        if (known === undefined) undone.set(key, { before: previous, isThere: type === 'put' });
        else known.isThere = type === 'put';
      }
      if (page.isFullWith(bytes)) break;
    }
    // The state is read in the snapshot that the last of the log was read in.
    if (!page.isFull) return { revision: next - 1, ...rangeAt(tables, request, undone) };
    yield;
  }
}

/** The engine's limit is 1978. */
export const MAX_KEY_BYTES = 1900;

/** Whether no key can be so long. A letter is three bytes at most. */
export const isTooLong = (key: string): boolean =>
  key.length * 3 > MAX_KEY_BYTES && Buffer.byteLength(key) > MAX_KEY_BYTES;

const NOTHING_UNDONE: ReadonlyMap<string, Undone> = new Map();

export function rangeAt(
  tables: Tables,
  { start, end, limit = 0, countOnly = false }: RangeRequest,
  undone = NOTHING_UNDONE,
): { kvs: KeyValue[]; count: number } {
  // The engine writes into the options it is given, so every call gets its own.
  const bounds = (): { start: Buffer; end: Buffer } => ({ start: boundOf(start), end: boundOf(end) });
  const now = tables.current.getKeysCount(bounds());
  let count = now;
  for (const { before, isThere } of undone.values()) {
    if (isThere) count--;
    if (before !== undefined) count++;
  }
  return { kvs: countOnly ? [] : collect(), count };

  /** Merges the current keys that did not change since with the undone ones, in order. */
  function collect(): KeyValue[] {
    const kvs: KeyValue[] = [];
    const old = [...undone].filter(([, { before }]) => before !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
    let at = 0;
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
        if (!undone.has(key)) kvs.push(keyValueOf(key, decodeVersion(value)));
      }
    }
    takeOldBefore(undefined);
    return kvs;
  }
}

/** Any text may be asked for. To the keys there are, a longer one is what its beginning is that is still longer than they. */
const boundOf = (key: string): Buffer =>
  isTooLong(key) ? Buffer.from(key).subarray(0, MAX_KEY_BYTES + 1) : Buffer.from(key);

export interface EventsWanted extends Omit<ChangesRequest, 'mostBytes'> {
  /** The store's revision when it was asked. */
  readonly newest: number;
  readonly previous: boolean;
  readonly mostBytes?: number;
}

/**
 * The events of a prefix from a revision to another, oldest first; undefined when their values are more than `mostBytes`.
 *
 *      startRevision ◀── page ── page ── newest │ ── written meanwhile ──▶
 *
 * The log is read backwards: what a change wrote is what the next change of the key replaced, or what is there now. For
 * a key that was written meanwhile the first record of that says what was there.
 */
export function* eventSteps(env: RootDatabase, tables: Tables, wanted: EventsWanted): Steps<KvEvent[] | undefined> {
  const { startRevision, newest, mostBytes = Infinity } = wanted;
  const prefix = Buffer.from(wanted.prefix);
  const found = new FoundEvents(tables, wanted);
  const page = new Page();
  let seen = newest;
  let next = newest;
  while (next >= startRevision) {
    env.resetReadTxn();
    for (const [revision, bytes] of recordsSince(tables, seen + 1)) {
      seen = revision;
      if (hasPrefix(bytes, prefix)) found.replacedLater(decodeLog(revision, bytes));
    }
    page.begin();
    for (const [revision, bytes] of recordsBefore(tables, next, startRevision)) {
      next = revision - 1;
      if (hasPrefix(bytes, prefix)) found.add(decodeLog(revision, bytes));
      if (page.isFullWith(bytes)) break;
    }
    if (found.bytes > mostBytes) return undefined;
    if (!page.isFull) break;
    yield;
  }
  return found.events.reverse();
}

class FoundEvents {
  readonly events: KvEvent[] = [];
  bytes = 0;
  /** What each key was before the oldest change that was found. */
  readonly #before = new Map<string, Version | undefined>();

  constructor(
    private readonly tables: Tables,
    private readonly wanted: Pick<EventsWanted, 'endRevision' | 'previous'>,
  ) {}

  /** A change after all that are looked for. */
  replacedLater({ key, previous }: LogRecord): void {
    if (!this.#before.has(key)) this.#before.set(key, previous);
  }

  /** Newest first. */
  add({ key, type, revision, createRevision, previous }: LogRecord): void {
    const { tables, wanted } = this;
    if (revision <= wanted.endRevision) {
      const before = this.#before;
      const version = type === 'delete' ? undefined : before.has(key) ? before.get(key) : currentOf(tables, key);
      const value = version?.value ?? NO_BYTES;
      this.bytes += value.length;
      this.events.push({
        type,
        key,
        revision,
        createRevision,
        value,
        previous: wanted.previous && previous !== undefined ? keyValueOf(key, previous) : undefined,
      });
    }
    this.#before.set(key, previous);
  }
}

const PAGE_RECORDS = 1_000;
const PAGE_BYTES = 1024 * 1024;

/** So much of the log as is read in a few milliseconds. */
class Page {
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

function* logSince(tables: Tables, from: number): Iterable<LogRecord> {
  for (const [revision, bytes] of recordsSince(tables, from)) yield decodeLog(revision, bytes);
}

function* recordsSince({ log }: Tables, from: number): Iterable<[revision: number, bytes: Buffer]> {
  for (const { key, value } of log.getRange({ start: encodeNumbers(from) })) yield [numberAt(key, 0), value];
}

/** From one revision down to another. */
function* recordsBefore({ log }: Tables, from: number, to: number): Iterable<[revision: number, bytes: Buffer]> {
  const range = { start: encodeNumbers(from), end: encodeNumbers(to - 1), reverse: true };
  for (const { key, value } of log.getRange(range)) yield [numberAt(key, 0), value];
}

export function currentOf({ current }: Tables, key: string): Version | undefined {
  if (isTooLong(key)) return undefined;
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
