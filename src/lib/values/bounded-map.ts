/**
 * A memory of at most `most` values. It starts afresh when full, which is cheaper than keeping an order: for keys of which
 * there are few in practice, and many, or long ones, only when someone tries.
 */
export class BoundedMap<K, V> {
  readonly #values = new Map<K, V>();
  readonly #most: number;
  #characters = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: K): V | undefined {
    return this.#values.get(key);
  }

  /** A key that is too long is not kept. */
  set(key: K, value: V): void {
    const length = typeof key === 'string' ? key.length : 0;
    if (length > MAX_CHARACTERS_OF_ONE) return;
    if (!this.#values.has(key)) {
      this.#characters += length;
      if (this.#values.size >= this.#most || this.#characters > MAX_CHARACTERS) {
        this.#values.clear();
        this.#characters = length;
      }
    }
    this.#values.set(key, value);
  }
}

const MAX_CHARACTERS = 4 * 1024 * 1024;
const MAX_CHARACTERS_OF_ONE = 64 * 1024;
