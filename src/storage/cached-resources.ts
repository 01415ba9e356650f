// Which resources have a watch cache.
import { type GroupResource, groupResourceText } from '../machinery/status.js';

/** Events are many, short-lived and seldom read: they are not cached unless the flag sets a size for them. */
const USUALLY_UNCACHED = ['events', 'events.events.k8s.io'];

/** By `--watch-cache` and `--watch-cache-sizes` (`resource[.group]#size`, where only 0 means something). */
export function isCached(resource: GroupResource, watchCache: boolean, sizes: readonly string[]): boolean {
  if (!watchCache) return false;
  const name = groupResourceText(resource);
  const given = sizes.map((entry) => entry.split('#')).findLast(([entryName]) => entryName === name);
  return given === undefined ? !USUALLY_UNCACHED.includes(name) : Number(given[1]) !== 0;
}
