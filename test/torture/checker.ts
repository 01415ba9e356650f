// Whether what clients saw can have happened. Every change has a revision, so that the order is known and no search for one
// is needed: it is checked that this order agrees with what was answered, with real time and with what writes demanded.
import { buildChangeLog } from './change-log.js';
import { checkLists } from './check-lists.js';
import { checkReads } from './check-reads.js';
import { checkWatches } from './check-watches.js';
import { checkWrites } from './check-writes.js';
import type { History, Violation } from './history.js';

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly changes: number;
  /** All changes are known: where every watcher got a 410, some states are unknown. */
  readonly isComplete: boolean;
}

export function checkHistory(history: History): Verdict {
  const { log, violations } = buildChangeLog(history);
  const all = [
    ...violations,
    ...checkWrites(history, log),
    ...checkReads(history, log),
    ...checkLists(history, log),
    ...checkWatches(history, log),
  ];
  return { violations: all, changes: log.changes.length, isComplete: log.isKnown(history.from, log.end) };
}
