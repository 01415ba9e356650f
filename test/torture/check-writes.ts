import { type Change, type ChangeLog, show } from './change-log.js';
import type { History, Violation, ViolationKind, Write } from './history.js';

/**
 * Each object is a register: its changes are the writes that were answered, once each and each on what it demanded, and
 * those of unknown outcome, at most once. A write that begins after an answer has the larger revision.
 */
export function checkWrites(history: History, log: ChangeLog): Violation[] {
  const violations: Violation[] = [];
  const add = (kind: ViolationKind, text: string): void => void violations.push({ kind, text });
  for (const write of history.writes) {
    if (write.version === undefined) continue;
    const { revision, value } = write.version;
    if (value !== write.value) add('contradiction', `the answer to ${name(write)} shows ${value}`);
    const known = log.newestBefore(write.beganAt);
    if (revision <= known) add('resourceVersion went back', `${name(write)} got ${revision} after ${known} was seen`);
  }
  violations.push(...checkDeletes(history, log));
  const byValue = new Map(history.writes.filter(({ verb }) => verb !== 'delete').map((write) => [write.value, write]));
  const happened = new Map<string, Change>();
  for (const changes of log.byKey.values()) {
    let before: Change | undefined;
    for (const change of changes) {
      const isKnown = log.isKnown(before?.revision ?? history.from, change.revision);
      if (change.type === 'put') {
        const write = byValue.get(change.version.value);
        const earlier = happened.get(change.version.value);
        happened.set(change.version.value, change);
        if (write === undefined || write.key !== change.version.key) add('object that nobody wrote', show(change));
        else if (earlier !== undefined)
          add('write happened twice', `${name(write)}: ${show(earlier)}, ${show(change)}, ${shownOutcome(write)}`);
        else if (write.outcome === 'failed')
          add('write that was refused happened', `${name(write)}: ${show(change)}, ${shownOutcome(write)}`);
        else if (isKnown) violations.push(...checkPut(write, change, before));
      } else if (isKnown && before?.type !== 'put') {
        add('contradiction', `${show(change)}, and there was nothing to delete`);
      } else if (isKnown && before !== undefined && before.version.uid !== change.version.uid) {
        add('contradiction', `${show(change)} deletes another object than ${show(before)}`);
      }
      before = change;
    }
  }
  return violations;
}

const name = ({ verb, key, value }: Write): string => `${verb} of ${key} ${value}`;

const shownOutcome = ({ outcome, refusal = '' }: Write): string => `outcome ${outcome} ${refusal}`;

function checkPut(write: Write, change: Change, before: Change | undefined): Violation[] {
  const violations: Violation[] = [];
  const broken = (why: string): void =>
    void violations.push({
      kind: 'precondition broken',
      text: `${write.verb} ${show(change)} after ${before === undefined ? 'nothing' : show(before)}: ${why}`,
    });
  const isThere = before?.type === 'put';
  if (write.verb === 'create' && isThere) broken('the object was there');
  if ((write.verb === 'update' || write.verb === 'patch') && !isThere) broken('the object was not there');
  if (write.expected !== undefined && before?.revision !== write.expected) broken(`it demanded ${write.expected}`);
  if (isThere && before.version.uid !== change.version.uid) broken('the uid changed');
  if (!isThere && before?.version.uid === change.version.uid) broken('a deleted object came back');
  const keeps = write.verb === 'patch' || write.verb === 'apply';
  const base = keeps ? (isThere ? before.version.base : undefined) : write.value;
  if (change.version.base !== base) broken(`its base is ${change.version.base} instead of ${base}`);
  return violations;
}

/** The answer to a delete has no revision, but a uid, and a uid is deleted once. */
function checkDeletes(history: History, log: ChangeLog): Violation[] {
  const violations: Violation[] = [];
  const deletes = new Map<string, Change>();
  const asked = new Set<string>();
  const answered = new Set<string>();
  for (const change of log.changes) if (change.type === 'delete') deletes.set(change.version.uid, change);
  for (const write of history.writes) {
    if (write.verb !== 'delete' || write.outcome === 'failed') continue;
    asked.add(write.key);
    if (write.deletedUid === undefined) continue;
    if (answered.has(write.deletedUid))
      violations.push({ kind: 'write happened twice', text: `${write.key} ${write.deletedUid} was deleted twice` });
    answered.add(write.deletedUid);
    const change = deletes.get(write.deletedUid);
    if (change === undefined) {
      const made = log.byKey.get(write.key)?.find(({ version }) => version.uid === write.deletedUid);
      if (log.isKnown(made?.revision ?? history.from, log.end))
        violations.push({ kind: 'lost write', text: `the delete of ${write.key} was answered` });
      continue;
    }
    const before = log.byKey.get(write.key)?.findLast(({ revision }) => revision < change.revision);
    const isWrong = write.expected !== undefined && before?.revision !== write.expected;
    if (isWrong && log.isKnown(before?.revision ?? history.from, change.revision))
      violations.push({ kind: 'precondition broken', text: `${show(change)} demanded ${write.expected}` });
    const known = log.newestBefore(write.beganAt);
    if (change.revision <= known)
      violations.push({ kind: 'resourceVersion went back', text: `${show(change)} after ${known} was seen` });
  }
  for (const change of deletes.values()) {
    if (!asked.has(change.version.key))
      violations.push({ kind: 'object that nobody wrote', text: `${show(change)}, which nobody asked for` });
  }
  return violations;
}
