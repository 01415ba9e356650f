/**
 * `make` with a memory of at most `most` answers. It starts afresh when full, which is cheaper than keeping an order:
 * for keys of which there are few in practice, and many only when someone tries.
 */
export function remember<K, V extends string | object>(most: number, make: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) {
      value = make(key);
      if (known.size >= most) known.clear();
      known.set(key, value);
    }
    return value;
  };
}
