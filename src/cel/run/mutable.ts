// Accumulators of macros, which nothing else refers to while the loop runs, grow in place.
import type { CelList, Value } from '../value.js';
import { ArrayList, EntryMap } from '../value.js';

export class MutableList extends ArrayList {
  private readonly growing: Value[];

  constructor() {
    const elements: Value[] = [];
    super(elements);
    this.growing = elements;
  }
  override add(other: CelList): Value {
    for (let i = 0; i < other.size; i++) this.growing.push(other.at(i));
    return this;
  }
}

export class MutableMap extends EntryMap {}
