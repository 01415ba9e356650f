// workers: one, it meters the process that it starts
// Bodies of a quarter of a megabyte, with a limit that passes that never yield do not keep; of their updates and applies
// only the first.
import { test } from 'node:test';
import { allShort } from './judge-tasks.js';
import { ATTACKS, type AttackRequest } from './worst-bodies.js';

const LARGE_BYTES = 250_000;
/** Of the processor's time; the collector's and that of a busy machine's cold caches are in it. Most take 5 to 15. */
const MAX_MS = 40;
const LARGE: readonly string[] = [
  'config map of many short keys',
  'pod volumes and mounts',
  'custom resource: open map',
  'finalizers',
  'labels',
  'quotas and limits',
  'options of deletions',
  'evictions, bindings and tokens',
  'scales',
  'a role that is bound often',
  'claims to devices',
  'service selector',
  'JSON patch that copies what it has copied',
];

for (const { name, requests } of ATTACKS.filter((attack) => LARGE.includes(attack.name))) {
  test(`${name}: no task of a large write is long`, { timeout: 600_000 }, async () => {
    const writes = withoutRepeats(requests(LARGE_BYTES).filter(({ method }) => method !== 'GET'));
    await allShort(name, writes, MAX_MS);
  });
}

/** Further updates and applies of the same object take nearly the same way. */
function withoutRepeats(requests: readonly AttackRequest[]): AttackRequest[] {
  const known = new Set<string>();
  return requests.filter(({ method, path: to, contentType = '' }) => {
    if (method !== 'PUT' && !contentType.includes('apply')) return true;
    const kind = `${method} ${to.split('?')[0] ?? to}`;
    return !known.has(kind) && known.add(kind);
  });
}
