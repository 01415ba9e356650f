// Slots for the variables of loops. Names are resolved to slots while planning.
import type { Evaluate } from './frame.js';

type Read = Evaluate;

export class Locals {
  private readonly scopes: Map<string, Read>[] = [];
  private slots = 0;

  slot(): number {
    return this.slots++;
  }

  /** Plans `body` with names bound; inner bindings hide outer ones. */
  within<T>(names: ReadonlyMap<string, Read>, body: () => T): T {
    this.scopes.push(new Map(names));
    try {
      return body();
    } finally {
      this.scopes.pop();
    }
  }

  reader(name: string): Read | undefined {
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      const found = this.scopes[i]?.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
