// The order of a merged list: the patch's items in the patch's order, the others where they stood among them.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { noMergeKey, wrongType } from './patch-errors.js';

/**
 * `merged` in order. `wanted` orders the items it names (by merge key, or by value without one), `live` the others.
 */
export function orderMerged(
  merged: readonly unknown[],
  wanted: readonly unknown[],
  live: readonly unknown[],
  mergeKey: string | undefined,
): unknown[] {
  const keyOf = (item: unknown): unknown => (mergeKey === undefined ? item : mergeKeyOf(item, mergeKey));
  const wantedAt = positions(wanted.map(keyOf));
  const liveAt = positions(live.map(keyOf));
  const place = (at: ReadonlyMap<unknown, number>, item: unknown): number => at.get(keyOf(item)) ?? -1;
  const patchItems = merged.filter((item) => wantedAt.has(keyOf(item)));
  const liveItems = merged.filter((item) => !wantedAt.has(keyOf(item)));
  patchItems.sort((a, b) => place(wantedAt, a) - place(wantedAt, b));
  liveItems.sort((a, b) => place(liveAt, a) - place(liveAt, b));

  const ordered: unknown[] = [];
  let next = 0;
  for (const item of patchItems) {
    const at = place(liveAt, item);
    while (next < liveItems.length && at >= 0 && place(liveAt, liveItems[next]) < at) ordered.push(liveItems[next++]);
    ordered.push(item);
  }
  return [...ordered, ...liveItems.slice(next)];
}

export function mergeKeyOf(item: unknown, mergeKey: string): unknown {
  if (!isPlainObject(item)) throw wrongType('map[string]interface {}', item);
  if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
  return item[mergeKey];
}

function positions(keys: readonly unknown[]): Map<unknown, number> {
  const at = new Map<unknown, number>();
  for (const [position, key] of keys.entries()) if (!at.has(key)) at.set(key, position);
  return at;
}
