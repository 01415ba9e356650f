// Lists in which an element stands at most once: sets, and lists whose elements have keys. Order does not matter to
// `==`. `a + b` keeps the places of a's elements and appends what is new in b; where both have a key, b's element wins.
import { equalValues } from '../run/equality.js';
import { ArrayList, CelList, CelMap, Duration, Timestamp, Uint, type Value } from '../value.js';

abstract class MergingList extends CelList {
  private places: Map<string, number> | undefined;

  constructor(protected readonly list: CelList) {
    super();
  }
  get size(): number {
    return this.list.size;
  }
  at(index: number): Value {
    return this.list.at(index);
  }
  override equal(other: Value): Value | undefined {
    if (!(other instanceof CelList)) return undefined;
    if (this.size !== other.size) return false;
    for (const theirs of other) {
      const place = this.placeOf(theirs);
      if (place === undefined) return false;
      const same = equalValues(this.at(place), theirs);
      if (same !== true) return same;
    }
    return true;
  }
  override add(other: CelList): Value {
    const merged = [...this];
    const places = new Map(this.allPlaces());
    for (const element of other) {
      const identity = this.identityOf(element);
      const place = places.get(identity);
      if (place === undefined) places.set(identity, merged.push(element) - 1);
      else merged[place] = element;
    }
    return this.again(new ArrayList(merged));
  }

  /** The key of an element. */
  protected abstract identityOf(element: Value): string;
  protected abstract again(list: CelList): CelList;

  private placeOf(element: Value): number | undefined {
    return this.allPlaces().get(this.identityOf(element));
  }
  private allPlaces(): ReadonlyMap<string, number> {
    this.places ??= new Map(Array.from(this.list, (element, i) => [this.identityOf(element), i] as const));
    return this.places;
  }
}

export class SetList extends MergingList {
  protected identityOf(element: Value): string {
    return scalarIdentity(element);
  }
  protected again(list: CelList): CelList {
    return new SetList(list);
  }
}

export class KeyedList extends MergingList {
  constructor(
    list: CelList,
    private readonly keys: readonly string[],
  ) {
    super(list);
  }
  protected identityOf(element: Value): string {
    return this.keys.map((key) => scalarIdentity(element instanceof CelMap ? element.find(key) : undefined)).join('\0');
  }
  protected again(list: CelList): CelList {
    return new KeyedList(list, this.keys);
  }
}

function scalarIdentity(value: Value | undefined): string {
  if (value instanceof Timestamp) return `time ${value.seconds}.${value.nanos}`;
  if (value instanceof Duration) return `duration ${value.nanos}`;
  if (value instanceof Uint) return `uint ${value.value}`;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('base64')}`;
  return `${typeof value} ${typeof value === 'object' ? '' : String(value)}`;
}
