// The order of a merged list: the patch's items in the patch's order, the others where they stood among them.
import { sortItems } from '../../lib/values/sort-few.js';
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
  const wantedAt = positions(wanted, mergeKey);
  const liveAt = positions(live, mergeKey);
  const patchItems: Placed[] = [];
  const liveItems: Placed[] = [];
  for (const item of merged) {
    const key = keyOf(item, mergeKey);
    const placed = { item, wantedAt: wantedAt.get(key) ?? -1, liveAt: liveAt.get(key) ?? -1 };
    (placed.wantedAt < 0 ? liveItems : patchItems).push(placed);
  }
  sortItems(liveItems, byLive);

  const ordered: unknown[] = [];
  let next = 0;
  for (const { item, liveAt: at } of sortItems(patchItems, byWanted)) {
    for (let rest = liveItems[next]; rest !== undefined && rest.liveAt < at; rest = liveItems[++next]) {
      ordered.push(rest.item);
    }
    ordered.push(item);
  }
  for (; next < liveItems.length; next++) ordered.push(liveItems[next]?.item);
  return ordered;
}

/** An item, and where it stands in both lists; below 0 in neither. */
interface Placed {
  readonly item: unknown;
  readonly wantedAt: number;
  readonly liveAt: number;
}

const byWanted = (a: Placed, b: Placed): number => a.wantedAt - b.wantedAt;
const byLive = (a: Placed, b: Placed): number => a.liveAt - b.liveAt;

const keyOf = (item: unknown, mergeKey: string | undefined): unknown =>
  mergeKey === undefined ? item : mergeKeyOf(item, mergeKey);

export function mergeKeyOf(item: unknown, mergeKey: string): unknown {
  if (!isPlainObject(item)) throw wrongType('map[string]interface {}', item);
  if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
  return item[mergeKey];
}

function positions(items: readonly unknown[], mergeKey: string | undefined): Map<unknown, number> {
  const places = new Map<unknown, number>();
  for (let at = 0; at < items.length; at++) {
    const key = keyOf(items[at], mergeKey);
    if (!places.has(key)) places.set(key, at);
  }
  return places;
}
