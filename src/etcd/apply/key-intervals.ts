// Intervals of keys, joined where they overlap: whether a key is in one of many is found without looking at all.
import { OrderedMap } from '../../lib/values/ordered-map.js';

interface Interval {
  readonly start: string;
  /** Absent where there is no end. */
  readonly end: string | undefined;
}

export class KeyIntervals {
  /** Ends by starts; none touches another. */
  readonly #ends = new OrderedMap<string | undefined>();

  add({ start, end }: Interval): void {
    if (end !== undefined && end <= start) return;
    let joined: Interval = { start, end };
    for (;;) {
      const before = this.#lastBefore(joined.end);
      if (before === undefined || (before.end !== undefined && before.end < joined.start)) break;
      this.#ends.delete(before.start);
      joined = {
        start: before.start < joined.start ? before.start : joined.start,
        end: laterEnd(before.end, joined.end),
      };
    }
    this.#ends.set(joined.start, joined.end);
  }

  has(key: string): boolean {
    const [, end] = this.#ends.getPairOrNextLower(key) ?? [undefined, ''];
    return end === undefined || key < end;
  }

  *[Symbol.iterator](): Iterator<Interval> {
    for (const [start, end] of this.#ends.entries()) yield { start, end };
  }

  #lastBefore(end: string | undefined): Interval | undefined {
    const start = end === undefined ? this.#ends.maxKey() : this.#ends.getPairOrNextLower(end)?.[0];
    return start === undefined ? undefined : { start, end: this.#ends.get(start) };
  }
}

const laterEnd = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || b === undefined ? undefined : a > b ? a : b;
