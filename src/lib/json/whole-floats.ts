// `2.0` and `2` are one number, but kube-apiserver reads the first as a float and the second as an integer, and has other
// rules for each. This keeps, for as long as the parsed tree lives, which members were written as floats.
import { FloatLiteral } from './float-literal.js';

const noted = new WeakMap<object, Set<string>>();

/** A member that is named again is what it was written as last. */
export function noteWholeFloat(container: object, key: string, isFloat: boolean): void {
  const keys = noted.get(container);
  if (!isFloat) keys?.delete(key);
  else if (keys === undefined) noted.set(container, new Set([key]));
  else keys.add(key);
}

/** A member of a list or an object: a FloatLiteral where it was written as one. */
export function asWritten(container: object, key: string | number, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  return noted.get(container)?.has(String(key)) ? new FloatLiteral(value, String(value)) : value;
}
