/** A value that is there already, or a promise of it: the fast path of a request never waits for a microtask. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with the value, at once when it is there. */
export function whenReady<T, U>(value: MaybePromise<T>, go: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(go) : go(value);
}
