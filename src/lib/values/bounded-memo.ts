/**
 * `make` with a memory of at most `most` answers. It starts afresh when full, which is cheaper than keeping an order:
 * for keys of which there are few in practice, and many, or long ones, only when someone tries.
 */
export function boundedMemo<K, V extends string | object>(most: number, make: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  let characters = 0;
  return (key) => {
    let value = known.get(key);
    if (value === undefined) {
      value = make(key);
      const length = typeof key === 'string' ? key.length : 0;
      if (length > MAX_CHARACTERS_OF_ONE) return value;
      characters += length;
      if (known.size >= most || characters > MAX_CHARACTERS) {
        known.clear();
        characters = length;
      }
      known.set(key, value);
    }
    return value;
  };
}

const MAX_CHARACTERS = 4 * 1024 * 1024;
const MAX_CHARACTERS_OF_ONE = 64 * 1024;
