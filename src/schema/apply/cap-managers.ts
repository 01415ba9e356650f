// A bound on how many updaters one object keeps.
import { sortSteps } from '../../lib/scheduling/sort-steps.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { FieldSet } from './field-set.js';
import { absorbSteps } from './field-set-steps.js';
import { compareTimes, identityOf, type Manager, type Managers } from './managers.js';
import { compareText } from '../../lib/text/compare-text.js';

export const MAX_UPDATE_MANAGERS = 10;
const OLD_UPDATES_MANAGER = 'ancient-changes';

/** The oldest updaters beyond the bound become one of each version. */
export function* capManagers(managers: Managers): StepGenerator<Managers> {
  const all = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (all.length <= MAX_UPDATE_MANAGERS) return managers;
  const updaters = yield* sortSteps(
    all,
    ([leftIdentity, left], [rightIdentity, right]) =>
      compareTimes(left.time, right.time) || compareText(leftIdentity, rightIdentity),
  );

  const capped = new Map(managers);
  const firsts = new Map<string, readonly [identity: string, manager: Manager]>();
  // What they become together grows from one to the next: a client may send many thousands of them.
  const grown = new Map<string, FieldSet>();
  let count = updaters.length;
  for (const [identity, manager] of updaters) {
    if (count <= MAX_UPDATE_MANAGERS) break;
    const { apiVersion } = manager;
    const first = firsts.get(apiVersion);
    // The first of a version waits for a second one, so that one alone keeps its name.
    if (first === undefined) {
      firsts.set(apiVersion, [identity, manager]);
      continue;
    }
    const bucket = { manager: OLD_UPDATES_MANAGER, operation: 'Update' as const, apiVersion, subresource: '' };
    const bucketIdentity = identityOf(bucket);
    let earlier = capped.get(bucketIdentity);
    if (earlier === undefined) {
      capped.delete(first[0]);
      earlier = first[1];
    }
    capped.delete(identity);
    let fields = grown.get(apiVersion);
    if (fields === undefined) {
      fields = new FieldSet();
      grown.set(apiVersion, fields);
      yield* absorbSteps(fields, earlier.fields);
    }
    yield* absorbSteps(fields, manager.fields);
    const { time } = manager;
    capped.set(bucketIdentity, { ...bucket, fields, time });
    count--;
    yield;
  }
  return capped;
}
