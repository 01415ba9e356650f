/**
 * Puts the items of other lists at the end of one. `list.push(...items)` hands them over as arguments, which are too many
 * for the stack from some hundred thousand on.
 */
export function append<T>(list: T[], ...others: readonly Iterable<T>[]): void {
  for (const items of others) for (const item of items) list.push(item);
}
