// The changes in the embedded store's log, forwards and page by page.
import type { RootDatabase } from 'lmdb';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import type { ChangesPage, ChangesRequest, KvEvent } from '../kv.js';
import { DamagedHistory } from './damage.js';
import { get, keyValueOf, Page, recordAt, recordsSince, type Tables } from './past.js';
import { decodeLog, hasPrefix } from './records.js';
import type { Successors } from './successors.js';

const NO_BYTES = Buffer.alloc(0);

/**
 * A page of what happened to the keys of a prefix, from a revision on. What a change wrote is in the record of the next
 * change of its key (successors.ts), or is the key's current version.
 */
export function* changesSteps(
  env: RootDatabase,
  tables: Tables,
  successors: Successors,
  request: ChangesRequest,
): StepGenerator<ChangesPage> {
  env.resetReadTxn();
  while (!successors.readPage(tables)) {
    yield;
    env.resetReadTxn();
  }
  return pageOfChanges(tables, successors, request);
}

function pageOfChanges(
  tables: Tables,
  successors: Successors,
  { prefix, startRevision, endRevision, maxBytes }: ChangesRequest,
): ChangesPage {
  const start = Buffer.from(prefix);
  const events: KvEvent[] = [];
  let changedBytes = 0;
  const page = new Page();
  for (const [revision, bytes] of recordsSince(tables, startRevision, endRevision)) {
    if (hasPrefix(bytes, start)) {
      const { key, type, createRevision, previous } = decodeLog(revision, bytes);
      const value = type === 'delete' ? NO_BYTES : writtenBy(tables, successors, key, revision);
      events.push({ type, key, revision, createRevision, value, previous: previous && keyValueOf(key, previous) });
      changedBytes += value.length + (previous?.value.length ?? 0);
    }
    if (page.isFullWith(bytes) || changedBytes > maxBytes) return { events, upTo: revision };
  }
  return { events, upTo: endRevision };
}

/** The value that a change wrote. */
function writtenBy(tables: Tables, successors: Successors, key: string, revision: number): Buffer {
  const next = successors.of(revision);
  const version = next === 0 ? get(tables, key) : decodeLog(next, recordAt(tables, next)).previous;
  if (version?.modRevision === revision) return version.value;
  throw new DamagedHistory(revision);
}
