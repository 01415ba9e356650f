// Functions written as source at run time, for code that must not interpret on every call.

/**
 * Makes the function that `source` returns, with `scope` in its scope by name; that it is an `F` is the source's to
 * keep. The source must be made of the program's own words only: nothing of a request may get into it.
 */
export function compileFunction<F extends (...args: never[]) => unknown>(
  scope: ReadonlyMap<string, unknown>,
  source: string,
): F {
  // oxlint-disable-next-line typescript/no-implied-eval -- that is what this file is for
  const make: unknown = new Function(...scope.keys(), `"use strict";\n${source}`);
  const made: unknown = isCallable(make) ? make(...scope.values()) : undefined;
  if (typeof made !== 'function') throw new Error('the source makes no function');
  return made as F;
}

const isCallable = (value: unknown): value is (...args: unknown[]) => unknown => typeof value === 'function';

/** Collects what a source refers to, each under a name. */
export class Scope {
  readonly values = new Map<string, unknown>();

  use(prefix: string, value: unknown): string {
    const name = `${prefix}${this.values.size}`;
    this.values.set(name, value);
    return name;
  }
}
