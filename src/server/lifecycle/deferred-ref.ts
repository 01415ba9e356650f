/** For parts that need each other: one is used only after both are made. */
export function deferredRef<T>(): { readonly value: T; set(value: T): void } {
  let bound: { readonly value: T } | undefined;
  return {
    get value() {
      if (bound === undefined) throw new Error('used before the server was built');
      return bound.value;
    },
    set: (value) => (bound = { value }),
  };
}
