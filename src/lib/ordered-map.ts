// A map in key order whose copies cost nothing until they change: sorted-btree, with string keys.
import sortedBTree from 'sorted-btree';

export class OrderedMap<V> extends sortedBTree.default<string, V> {
  constructor(pairs?: [string, V][]) {
    super(pairs, compareKeys);
  }
}

const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
