import { BoundedMap } from './bounded-map.js';

/** `make` with a memory of at most `most` answers. */
export function boundedMemo<K, V extends string | object>(most: number, make: (key: K) => V): (key: K) => V {
  const known = new BoundedMap<K, V>(most);
  return (key) => {
    let value = known.get(key);
    if (value === undefined) {
      value = make(key);
      known.set(key, value);
    }
    return value;
  };
}
