/**
 * Equality of two JSON-shaped values as the API means it: a list that is null, absent or empty is the same list, and
 * so are absent and null members. An empty object is not an absent one.
 */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (isNothing(left) && isNothing(right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    for (let at = 0; at < left.length; at++) if (!deepEqual(left[at], right[at])) return false;
    return true;
  }
  const leftBag = left as Record<string, unknown>;
  const rightBag = right as Record<string, unknown>;
  for (const member of Object.keys(leftBag)) if (!deepEqual(leftBag[member], rightBag[member])) return false;
  for (const member of Object.keys(rightBag)) {
    if (!(member in leftBag) && !isNothing(rightBag[member])) return false;
  }
  return true;
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);
