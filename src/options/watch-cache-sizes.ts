/** What is wrong with `resource[.group]#size` entries. */
export function watchCacheSizesError(entries: readonly string[]): string | undefined {
  for (const entry of entries) {
    const [, size, ...more] = entry.split('#');
    if (size === undefined || more.length > 0) return `invalid value of watch cache size: ${entry}`;
    if (!/^[+-]?[0-9]+$/.test(size)) return `invalid size of watch cache size: ${entry}`;
    if (Number(size) < 0) return `watch cache size cannot be negative: ${entry}`;
  }
  return undefined;
}
