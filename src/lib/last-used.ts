/**
 * A map of at most `most` values: of those, the last ones asked for.
 *
 *     const policies = new LastUsed<Policy>(100);
 *     policies.get(source, () => compile(source))
 */
export class LastUsed<V extends object> {
  /** In the order they were asked for. */
  readonly #values = new Map<string, V>();

  constructor(private readonly most: number) {}

  /** What is kept under the key, or else what `make` gives; not counted as use when it gives nothing. */
  get(key: string, make: () => V): V;
  get(key: string, make: () => V | undefined): V | undefined;
  get(key: string, make: () => V | undefined): V | undefined {
    const value = this.#values.get(key) ?? make();
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.most && oldest !== undefined) this.#values.delete(oldest);
    return value;
  }

  /** Without counting it as use. */
  peek(key: string): V | undefined {
    return this.#values.get(key);
  }
}
