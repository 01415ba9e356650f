// The changes in the embedded store's log, forwards and page by page.
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import type { Change } from './change.js';
import { DamagedHistory } from './damage.js';
import type { Tables } from './engine.js';
import { get, type LogSection, Page, placeAfter, recordAt, recordsSince } from './past.js';
import { decodeLog, isLastOfRevision, keyOfLog, type Version } from './records.js';
import type { Successors } from './successors.js';

export interface ChangesInRange {
  /** A byte key, as `end`. */
  readonly start: string;
  /** First key no longer wanted; absent where there is no end. */
  readonly end: string | undefined;
  readonly startRevision: number;
  readonly endRevision: number;
  /** Of the values that were written or replaced; the revision that exceeds it is the last of the page. */
  readonly maxBytes: number;
}

export interface PageOfChanges {
  readonly changes: readonly Change[];
  /** The page has every change of the range up to this revision. */
  readonly upTo: number;
}

/**
 * A page of what happened to the keys of a range, from a revision on. What a change wrote is in the record of the next
 * change of its key (successors.ts), or is the key's current version. A page ends with a revision; one that changed very many
 * keys is read in several steps.
 */
export function* changesSteps(
  tables: Tables,
  successors: Successors,
  { start, end, startRevision, endRevision, maxBytes }: ChangesInRange,
): StepGenerator<PageOfChanges> {
  const changes: Change[] = [];
  let changedBytes = 0;
  let next: LogSection = { revision: startRevision };
  for (;;) {
    yield* catchUpSteps(tables, successors);
    const page = new Page();
    for (const [revision, bytes, place] of recordsSince(tables, { ...next, upTo: endRevision })) {
      next = placeAfter(revision, place, bytes);
      const key = keyOfLog(bytes);
      if (key >= start && (end === undefined || key < end)) {
        const { type, previous } = decodeLog(revision, bytes);
        const written = type === 'delete' ? undefined : writtenBy(tables, successors, key, revision);
        changes.push({ key, revision, next: written, previous });
        changedBytes += (written?.value.length ?? 0) + (previous?.value.length ?? 0);
      }
      const isFull = page.isFullWith(bytes) || changedBytes > maxBytes;
      if (isFull && isLastOfRevision(bytes)) return { changes, upTo: revision };
      if (page.isFull) break;
    }
    if (!page.isFull) return { changes, upTo: endRevision };
    yield;
  }
}

/** The snapshot that the last step leaves has nothing that the successors do not know. */
function* catchUpSteps(tables: Tables, successors: Successors): StepGenerator<void> {
  tables.env.resetReadTxn();
  while (!successors.readPage(tables)) {
    yield;
    tables.env.resetReadTxn();
  }
}

/** The version that a change wrote. */
function writtenBy(tables: Tables, successors: Successors, key: string, revision: number): Version {
  const next = successors.of(revision, key);
  const version =
    next === undefined
      ? get(tables, key)
      : decodeLog(next.revision, recordAt(tables, next.revision, next.place)).previous;
  if (version?.modRevision === revision) return version;
  throw new DamagedHistory(revision);
}
