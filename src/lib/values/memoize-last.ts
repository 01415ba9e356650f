/**
 * Keeps what was made last, for as long as what it is made of is the same, item by item.
 *
 *     const documents = memoizeLast<Buffer>();
 *     documents([kinds, order], () => encode(kinds, order))     made once, until either is another
 */
export function memoizeLast<T>(): (basis: readonly unknown[], make: () => T) => T {
  let known: { readonly basis: readonly unknown[]; readonly made: T } | undefined;
  return (basis, make) => {
    if (known === undefined || !sameItems(known.basis, basis)) known = { basis, made: make() };
    return known.made;
  };
}

export const sameItems = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a === b || (a.length === b.length && a.every((item, i) => item === b[i]));
