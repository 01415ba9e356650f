import { type Change, type ChangeLog, show } from './change-log.js';
import type { History, Span, Violation } from './history.js';

/** Every watcher sees each change of its span once, in order, and as the type that it is. */
export function checkWatches({ from, spans }: History, log: ChangeLog): Violation[] {
  const violations: Violation[] = [];
  const before = changesBefore(log);
  const seenBySomebody = new Set<number>();
  for (const { events } of spans) {
    for (const { type, revision } of events) if (type !== 'BOOKMARK') seenBySomebody.add(revision);
  }
  for (const span of spans) {
    violations.push(...checkOrder(span));
    const seen = new Map(span.events.filter(({ type }) => type !== 'BOOKMARK').map((event) => [event.revision, event]));
    const end = span.events.at(-1)?.revision ?? 0;
    for (const change of log.changes) {
      if (change.revision <= span.from || change.revision > end) continue;
      const event = seen.get(change.revision);
      if (event === undefined) {
        const kind = seenBySomebody.has(change.revision) ? 'missed event' : 'lost write';
        violations.push({ kind, text: `${span.watcher} from ${span.from} to ${end} did not see ${show(change)}` });
        continue;
      }
      const previous = before.get(change);
      const isKnown = log.isKnown(previous?.revision ?? from, change.revision);
      const type = change.type === 'delete' ? 'DELETED' : previous?.type === 'put' ? 'MODIFIED' : 'ADDED';
      if (isKnown && event.type !== type)
        violations.push({
          kind: 'event of the wrong type',
          text: `${span.watcher}: ${event.type} for ${show(change)}`,
        });
    }
  }
  return violations;
}

function checkOrder({ watcher, from, events }: Span): Violation[] {
  const violations: Violation[] = [];
  const seen = new Set<number>();
  let newest = from;
  for (const { type, revision } of events) {
    // A bookmark may name the revision of the event before it.
    const isInOrder = type === 'BOOKMARK' ? revision >= newest : revision > newest;
    if (!isInOrder) {
      const kind = type !== 'BOOKMARK' && seen.has(revision) ? 'duplicate event' : 'event out of order';
      violations.push({ kind, text: `${watcher}: ${type} ${revision} after ${newest}` });
    }
    if (type !== 'BOOKMARK') seen.add(revision);
    newest = Math.max(newest, revision);
  }
  return violations;
}

/** The change of the same object before each. */
function changesBefore(log: ChangeLog): ReadonlyMap<Change, Change> {
  const before = new Map<Change, Change>();
  for (const changes of log.byKey.values()) {
    for (const [i, change] of changes.entries()) {
      const previous = changes[i - 1];
      if (previous !== undefined) before.set(change, previous);
    }
  }
  return before;
}
