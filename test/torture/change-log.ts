import type { History, Version, Violation } from './history.js';

/** A change of an object; the version that a delete ends is that of before, with the delete's revision. */
export interface Change {
  readonly type: 'put' | 'delete';
  readonly revision: number;
  readonly version: Version;
}

export interface ChangeLog {
  /** By revision. */
  readonly changes: readonly Change[];
  /** By key, and there by revision. */
  readonly byKey: ReadonlyMap<string, readonly Change[]>;
  /** Watchers saw every change after the first revision up to the second: where all got a 410, some may be missing. */
  isKnown(after: number, upTo: number): boolean;
  /** The last revision of all. */
  readonly end: number;
  /** The newest revision that a client had seen before this moment. */
  newestBefore(moment: number): number;
}

/** Everything that anybody saw, as one log of changes. Every revision belongs to one change, so that all must agree. */
export function buildChangeLog(history: History): { log: ChangeLog; violations: Violation[] } {
  const found = new Map<number, Change>();
  const violations: Violation[] = [];
  const add = (type: Change['type'], version: Version, revision = version.revision): void => {
    const known = found.get(revision);
    const change: Change = { type, revision, version: { ...version, revision } };
    if (known === undefined) found.set(revision, change);
    else if (!isSame(known, change))
      violations.push({ kind: 'contradiction', text: `at ${revision}: ${show(known)} and ${show(change)}` });
  };
  for (const { version } of history.writes) if (version !== undefined) add('put', version);
  for (const { version } of history.gets) if (version !== undefined) add('put', version);
  for (const { pages } of history.lists) {
    for (const { items } of pages) for (const item of items) add('put', item);
  }
  for (const { events } of history.spans) {
    for (const { type, version } of events) {
      if (version !== undefined) add(type === 'DELETED' ? 'delete' : 'put', version);
    }
  }
  const changes = [...found.values()].sort((a, b) => a.revision - b.revision);
  const byKey = new Map<string, Change[]>();
  for (const change of changes) {
    const { key } = change.version;
    const ofKey = byKey.get(key);
    if (ofKey === undefined) byKey.set(key, [change]);
    else ofKey.push(change);
  }
  const end = changes.at(-1)?.revision ?? history.from;
  const log = { changes, byKey, end, isKnown: coverage(history), newestBefore: sightings(history, changes) };
  return { log, violations };
}

export const show = ({ type, version }: Change): string =>
  `${type} of ${version.key} ${version.value}@${version.revision}`;

function isSame(a: Change, b: Change): boolean {
  const [one, two] = [a.version, b.version];
  return (
    a.type === b.type && one.key === two.key && one.uid === two.uid && one.value === two.value && one.base === two.base
  );
}

/** Whether spans that overlap reach from one revision to another. */
function coverage({ spans }: History): ChangeLog['isKnown'] {
  const covered: { from: number; to: number }[] = [];
  for (const { from, events } of [...spans].sort((one, other) => one.from - other.from)) {
    const to = events.at(-1)?.revision ?? from;
    const last = covered.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else covered.push({ from, to });
  }
  return (after, upTo) => covered.some(({ from, to }) => from <= after && upTo <= to);
}

/** Revisions by the moment from which somebody knew of them. */
function sightings(history: History, changes: readonly Change[]): (moment: number) => number {
  const seen: { at: number; revision: number }[] = [];
  const deletes = new Map<string, number>();
  for (const { type, revision, version } of changes) if (type === 'delete') deletes.set(version.uid, revision);
  for (const { version, deletedUid, endedAt } of history.writes) {
    const revision = version?.revision ?? deletes.get(deletedUid ?? '');
    if (revision !== undefined) seen.push({ at: endedAt, revision });
  }
  for (const { version, endedAt } of history.gets) {
    if (version !== undefined) seen.push({ at: endedAt, revision: version.revision });
  }
  for (const { pages, endedAt } of history.lists) {
    for (const { revision } of pages) seen.push({ at: endedAt, revision });
  }
  for (const { events } of history.spans) for (const { at, revision } of events) seen.push({ at, revision });
  seen.sort((a, b) => a.at - b.at);
  let newest = 0;
  const newestAt = seen.map(({ at, revision }) => ({ at, newest: (newest = Math.max(newest, revision)) }));
  return (moment) => {
    let [low, high] = [0, newestAt.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((newestAt[middle]?.at ?? 0) < moment) low = middle + 1;
      else high = middle;
    }
    return newestAt[low - 1]?.newest ?? 0;
  };
}
