// A bound on how many updaters one object remembers.
import { identityOf, type Manager, type Managers, timeSeconds } from './managers.js';
import { compareText } from './path-element.js';

const MAX_UPDATE_MANAGERS = 10;
const OLD_UPDATES_MANAGER = 'ancient-changes';

/** The oldest updaters beyond the bound become one of each version. */
export function capManagers(managers: Managers): Managers {
  if (managers.size <= MAX_UPDATE_MANAGERS) return managers;
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= MAX_UPDATE_MANAGERS) return managers;
  updaters.sort(
    ([leftIdentity, left], [rightIdentity, right]) =>
      timeSeconds(left.time) - timeSeconds(right.time) || compareText(leftIdentity, rightIdentity),
  );

  const capped = new Map(managers);
  const firsts = new Map<string, readonly [identity: string, manager: Manager]>();
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
    const { time } = manager;
    capped.set(bucketIdentity, {
      ...bucket,
      fields: manager.fields.union(earlier.fields),
      ...(time === undefined ? {} : { time }),
    });
    count--;
  }
  return capped;
}
