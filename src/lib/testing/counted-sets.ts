/**
 * For tests of how work grows with its input: how often something was put into a map meanwhile. Unlike time, it is the
 * same on a busy machine.
 */
export function countedSets(work: () => void): number {
  const before = Object.getOwnPropertyDescriptor(Map.prototype, 'set') as PropertyDescriptor;
  const set = before.value as (this: Map<unknown, unknown>, key: unknown, value: unknown) => unknown;
  let count = 0;
  const counting = function (this: Map<unknown, unknown>, key: unknown, value: unknown): unknown {
    count++;
    return set.call(this, key, value);
  };
  Object.defineProperty(Map.prototype, 'set', { ...before, value: counting });
  try {
    work();
  } finally {
    Object.defineProperty(Map.prototype, 'set', before);
  }
  return count;
}
