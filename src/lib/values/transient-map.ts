// A map for what soon leaves it again: requests under way, writes without an answer.
//
// V8's Map never reuses the place of what was deleted. When all places are taken it copies what is left to a new table, and the
// old table still names all that was in the map at that time. Tables of a long-lived map lie where only full collections look,
// so each of those objects, and all it refers to, outlives the quick collections: after some seconds of load the heap is full of
// answered requests. Here V8's Map has places only, and the objects lie in an array whose places are reused.

export class TransientMap<K, V> {
  readonly #places = new Map<K, number>();
  readonly #values: (V | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#places.size;
  }

  has(key: K): boolean {
    return this.#places.has(key);
  }

  get(key: K): V | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#values[place];
  }

  // hot: every request and every write
  set(key: K, value: V): void {
    let place = this.#places.get(key);
    if (place === undefined) this.#places.set(key, (place = this.#free.pop() ?? this.#values.length));
    this.#values[place] = value;
  }

  /** Whether it was there. */
  delete(key: K): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#places.delete(key);
    this.#values[place] = undefined;
    this.#free.push(place);
    return true;
  }

  /** In the order in which the keys came. */
  *values(): Generator<V> {
    for (const place of this.#places.values()) yield this.#values[place] as V;
  }

  clear(): void {
    this.#places.clear();
    this.#values.length = 0;
    this.#free.length = 0;
  }
}
