// A map in key order whose copies cost nothing until they change: sorted-btree, with string keys.
import sortedBTree from 'sorted-btree';

export class OrderedMap<V> extends sortedBTree.default<string, V> {
  constructor(pairs?: [string, V][]) {
    super(pairs, compareKeys, NODE_SIZE);
  }
}

/** Larger nodes make fewer steps; beyond this, copying them for a snapshot costs more than is won. */
const NODE_SIZE = 64;

// hot: a dozen times for every object written, nearly always with keys that differ.
const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
