/** A copy of a JSON-shaped value that shares nothing with it. */
export function deepCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(deepCopy) as T;
  const copy: Record<string, unknown> = {};
  for (const member in value) copy[member] = deepCopy(value[member]);
  return copy as T;
}
