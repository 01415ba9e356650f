import type { Change, ChangeLog } from './change-log.js';
import type { History, List, Violation, ViolationKind } from './history.js';

/** A list is the state at its revision, over all its pages, and that revision is one that the request allows. */
export function checkLists({ from, lists }: History, log: ChangeLog): Violation[] {
  const violations: Violation[] = [];
  const add = (kind: ViolationKind, text: string): void => void violations.push({ kind, text });
  const state = new Map<string, Change>();
  let at = 0;
  for (const list of [...lists].sort((a, b) => revisionOf(a) - revisionOf(b))) {
    const revision = revisionOf(list);
    const revisions = new Set(list.pages.map((page) => page.revision));
    if (revisions.size > 1) add('mixed pages', `pages at ${[...revisions].join(', ')}`);
    const items = list.pages.flatMap((page) => page.items);
    const unsorted = items.findIndex((item, i) => i > 0 && item.key <= (items[i - 1]?.key ?? ''));
    if (unsorted > 0) add('mixed pages', `${items[unsorted]?.key} follows ${items[unsorted - 1]?.key} at ${revision}`);
    const refused = refusal(list, log);
    if (refused !== undefined) add('stale read', refused);
    for (
      let change = log.changes[at];
      change !== undefined && change.revision <= revision;
      change = log.changes[++at]
    ) {
      state.set(change.version.key, change);
    }
    const got = new Map(items.map((item) => [item.key, item.revision]));
    for (const key of new Set([...state.keys(), ...got.keys()])) {
      const last = state.get(key);
      if (!log.isKnown(last?.revision ?? from, revision)) continue;
      const want = last?.type === 'put' ? last.revision : undefined;
      if (got.get(key) !== want)
        add(
          'list is not the state at its revision',
          `${list.match} at ${revision} has ${key}@${got.get(key)} instead of ${key}@${want}`,
        );
    }
  }
  return violations;
}

const revisionOf = ({ pages }: List): number => pages[0]?.revision ?? 0;

function refusal(list: List, log: ChangeLog): string | undefined {
  const revision = revisionOf(list);
  const known = log.newestBefore(list.beganAt);
  switch (list.match) {
    case 'newest':
      return revision < known ? `a list at ${revision} when ${known} had been seen` : undefined;
    case 'notOlderThan':
      return revision < list.wanted ? `a list at ${revision} that must not be older than ${list.wanted}` : undefined;
    case 'exact':
      return revision === list.wanted ? undefined : `a list at ${revision} that must be at ${list.wanted}`;
    case 'any':
      return undefined;
  }
}
