// A map in key order whose copies cost nothing until they change: sorted-btree, with string keys.
import sortedBTree from 'sorted-btree';
import bulkLoadModule from 'sorted-btree/extended/bulkLoad.js';
import diffModule from 'sorted-btree/extended/diffAgainst.js';

export class OrderedMap<V> extends sortedBTree.default<string, V> {
  constructor(pairs?: [string, V][]) {
    super(pairs, compareKeys, NODE_SIZE);
  }
}

/** A map of many at once, which takes linear time where the keys come in order, each once. */
export function orderedMapOf<V>(keys: string[], values: V[]): OrderedMap<V> {
  if (isAscending(keys)) return bulkLoadModule.bulkLoad(keys, values, NODE_SIZE, compareKeys);
  const map = new OrderedMap<V>();
  for (const [at, value] of values.entries()) map.set(keys[at] ?? '', value);
  return map;
}

function isAscending(keys: readonly string[]): boolean {
  return keys.every((key, at) => at === 0 || (keys[at - 1] ?? '') < key);
}

/** In key order, the keys that only one of two maps has, or that both have with values that are not alike. What both share is passed over. */
export function differences<V>(
  one: sortedBTree.default<string, V>,
  other: sortedBTree.default<string, V>,
  isAlike: (one: V, other: V) => boolean,
): string[] {
  const keys: string[] = [];
  const add = (key: string): void => void keys.push(key);
  diffModule.default(one, other, add, add, (key, mine, theirs) => {
    if (!isAlike(mine, theirs)) keys.push(key);
  });
  return keys.sort(compareKeys);
}

/** Larger nodes make fewer steps; beyond this, copying them for a snapshot costs more than is won. */
const NODE_SIZE = 64;

// hot: a dozen times for every object written, nearly always with keys that differ.
const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
