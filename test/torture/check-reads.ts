import { type ChangeLog, show } from './change-log.js';
import type { History, Violation } from './history.js';

/** A read shows a state that is at least as new as everything that had been seen when it began. */
export function checkReads({ gets }: History, log: ChangeLog): Violation[] {
  const violations: Violation[] = [];
  const stale = (text: string): void => void violations.push({ kind: 'stale read', text });
  for (const { key, beganAt, version } of gets) {
    const known = log.newestBefore(beganAt);
    const changes = log.byKey.get(key) ?? [];
    if (version !== undefined) {
      const next = changes.find(({ revision }) => revision > version.revision);
      if (next !== undefined && next.revision <= known)
        stale(`${key} was read as ${version.value}@${version.revision} when ${show(next)} was over and ${known} seen`);
      continue;
    }
    const last = changes.findLast(({ revision }) => revision <= known);
    const isDeletedLater = changes.some(({ type, revision }) => type === 'delete' && revision > known);
    if (last?.type === 'put' && !isDeletedLater && log.isKnown(last.revision, log.end))
      stale(`${key} was not found when ${show(last)} was over`);
  }
  return violations;
}
