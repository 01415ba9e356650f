// A map in key order whose copies cost nothing until they change: sorted-btree, with string keys.
import sortedBTree from 'sorted-btree';

export class OrderedMap<V> extends sortedBTree.default<string, V> {
  constructor(pairs?: [string, V][]) {
    super(pairs, compareKeys);
  }
}

// hot: a dozen times for every object written. Whether they are equal is told sooner than which is greater.
const compareKeys = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
