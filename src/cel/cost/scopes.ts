import type { Estimate } from '../library.js';

/** Sizes of what a list or map holds. */
export interface EntrySize {
  readonly container: 'list' | 'map';
  readonly key: Estimate;
  readonly value: Estimate;
}

export interface LocalVariable {
  readonly path: readonly string[];
  readonly size: Estimate | undefined;
  readonly entrySize: EntrySize | undefined;
}

/** Variables of loops and bindings; inner ones hide outer ones of the same name. */
export class Scopes {
  private readonly stacks = new Map<string, LocalVariable[]>();

  push(name: string, variable: LocalVariable): void {
    const stack = this.stacks.get(name) ?? [];
    stack.push(variable);
    this.stacks.set(name, stack);
  }
  pop(name: string): void {
    this.stacks.get(name)?.pop();
  }
  find(name: string): LocalVariable | undefined {
    return this.stacks.get(name)?.at(-1);
  }
}
