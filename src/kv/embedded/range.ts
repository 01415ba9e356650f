// The keys of a range, as they are now or were after a revision: all of one snapshot, in steps.
import { sortSteps } from '../../lib/scheduling/sort-steps.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import type { DamagedRecord } from '../kv.js';
import { byteKeyIn, nameOf, textOf } from './byte-key.js';
import { damagedRecords, MAX_NAMED } from './damage.js';
import type { Tables } from './engine.js';
import type { MovableTables } from './movable-tables.js';
import { isTooLong, type LogSection, MAX_KEY_BYTES, Page, placeAfter, recordsSince } from './past.js';
import { decodeLog, decodeVersion, type Version } from './records.js';
import { newestRevision } from './state.js';

/** Keys in a range. All are byte keys (byte-key.ts). */
export interface KeyRange<T, P> {
  readonly start: string;
  /** First key no longer wanted; absent where there is no end. */
  readonly end: string | undefined;
  /** 0 for all. */
  readonly limit: number;
  readonly countOnly: boolean;
  readonly make: (key: string, version: Version) => T;
  /** What a page becomes: so many keys as are read in a few milliseconds, in order. */
  readonly gather: (kvs: readonly T[]) => P;
}

export interface RangePages<P> {
  readonly pages: readonly P[];
  /** Of the whole range, beyond the limit too. */
  readonly count: number;
}

/** What a key was before it changed, and whether it is there now. */
interface Undone {
  readonly before: Version | undefined;
  isThere: boolean;
}

/** As it was after a revision, 0 for now; with the revision of the store. The file is held as long as steps are left. */
export function* rangeSteps<T, P>(
  tables: MovableTables,
  range: KeyRange<T, P>,
  revision: number,
): StepGenerator<RangePages<P> & { readonly revision: number }> {
  const undone = revision === 0 ? NOTHING_UNDONE : yield* undoneSteps(tables, range, revision + 1);
  const release = tables.hold();
  try {
    return { revision: newestRevision(tables.meta), ...(yield* pagesSteps(tables, range, undone)) };
  } finally {
    release();
  }
}

/** What changed from this revision on. It is all there in the snapshot that the last step leaves. */
function* undoneSteps(
  tables: MovableTables,
  { start, end }: Pick<KeyRange<unknown, unknown>, 'start' | 'end'>,
  from: number,
): StepGenerator<Map<string, Undone>> {
  const undone = new Map<string, Undone>();
  const page = new Page();
  for (let next: LogSection = { revision: from }; ;) {
    tables.env.resetReadTxn();
    page.begin();
    for (const [at, content, place] of recordsSince(tables, next)) {
      next = placeAfter(at, place, content);
      const { key, type, previous } = decodeLog(at, content);
      if (key >= start && (end === undefined || key < end)) {
        const known = undone.get(key);
        if (known === undefined) undone.set(key, { before: previous, isThere: type === 'put' });
        else known.isThere = type === 'put';
      }
      if (page.isFullWith(content)) break;
    }
    if (!page.isFull) return undone;
    yield;
  }
}

const NOTHING_UNDONE: ReadonlyMap<string, Undone> = new Map();

/** The snapshot at hand, with what is undone. An iterator of the engine keeps its snapshot as long as it is open. */
export function* pagesSteps<T, P>(
  { current, unchecked }: Tables,
  { start, end, limit, countOnly, make, gather }: KeyRange<T, P>,
  undone = NOTHING_UNDONE,
): StepGenerator<RangePages<P>> {
  // The engine mutates its options, so every call gets a new object.
  const bounds = (): { start: Buffer; end?: Buffer } => ({
    start: boundOf(start),
    ...(end !== undefined && { end: boundOf(end) }),
  });
  const now = current.getKeysCount(bounds());
  let count = now;
  for (const { before, isThere } of undone.values()) {
    if (isThere) count--;
    if (before !== undefined) count++;
  }
  if (countOnly) return { pages: [], count };
  const pages: P[] = [];
  const damaged: DamagedRecord[] = [];
  const page = new Page();
  let kvs: T[] = [];
  let found = 0;
  let seen = 0;
  let at = 0;
  const isFull = (): boolean => limit > 0 && found >= limit;
  const iterator = current.getRange(bounds())[Symbol.iterator]();
  try {
    // The first of them is read before anything waits: from here on the iterator has its snapshot.
    let next = iterator.next();
    const old = undone.size === 0 ? [] : yield* oldSteps(undone);
    for (; !isFull();) {
      const name = next.done === true ? undefined : next.value.key;
      const key = name && byteKeyIn(name);
      const before = old[at];
      let size: Buffer;
      if (before !== undefined && (key === undefined || before[0] < key)) {
        at++;
        found++;
        kvs.push(make(...before));
        size = before[1].value;
      } else if (key === undefined || name === undefined || next.done === true) {
        if (seen !== now) throw new Error(`${now} keys are counted, ${seen} are found`);
        break;
      } else {
        seen++;
        size = next.value.value;
        if (!undone.has(key)) {
          const version = decodeVersion(name, size, unchecked.current);
          if (version.isDamaged) damaged.push({ key: textOf(key), revision: version.modRevision });
          else kvs.push(make(key, version));
          found++;
          if (damaged.length >= MAX_NAMED) break;
        }
        next = iterator.next();
      }
      if (!page.isFullWith(size)) continue;
      pages.push(gather(kvs));
      kvs = [];
      page.begin();
      yield;
    }
  } finally {
    iterator.return?.();
  }
  if (damaged.length > 0) throw damagedRecords(damaged);
  if (kvs.length > 0) pages.push(gather(kvs));
  return { pages, count };
}

/** Those that were there before, in order. */
function* oldSteps(undone: ReadonlyMap<string, Undone>): StepGenerator<(readonly [key: string, version: Version])[]> {
  const old: (readonly [string, Version])[] = [];
  for (const [key, { before }] of undone) if (before !== undefined) old.push([key, before]);
  return yield* sortSteps(old, ([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Callers may pass keys of any length. A key beyond the limit sorts among stored keys as its prefix of one byte more than
 * the limit does.
 */
const boundOf = (key: string): Buffer => nameOf(isTooLong(key) ? key.slice(0, MAX_KEY_BYTES + 1) : key);
