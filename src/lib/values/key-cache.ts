// Maps of many thousand members whose names are known. Listing the names of a map is one call of the engine, half a
// tenth of a second for two hundred thousand of them. A decoder that reads a large map in pieces has its names at
// hand, and caches them here for later walks.
//
// Nothing can be added to such a map, or the names would be incomplete: adding throws. A change that adds copies the
// map.

/** Names of fewer are listed at once. */
const MANY = 8192;

const known = new WeakMap<object, readonly string[]>();

/** `names`: all of them, in their order. */
export function cacheKeys(map: object, names: readonly string[]): void {
  if (names.length < MANY || names.some(mayBeIndex)) return;
  Object.preventExtensions(map);
  known.set(map, names);
}

/** The names of a map. What was removed from a closed one may be among them. */
// hot: for every map of a large object.
export const keysOf = (map: object): readonly string[] => known.get(map) ?? Object.keys(map);

/** The names that were cached for a map; undefined without cacheKeys(). */
export const cachedKeys = (map: object): readonly string[] | undefined => known.get(map);

/** The engine has numbers in another order than they came. */
const mayBeIndex = (name: string): boolean => name.charCodeAt(0) <= NINE && name.charCodeAt(0) >= ZERO;

const ZERO = 0x30;
const NINE = 0x39;
