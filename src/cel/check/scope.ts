import type { CelType } from '../type.js';

/** Variables of loops, innermost first. */
export class Scope {
  private readonly names: ReadonlyMap<string, CelType>;

  constructor(
    private readonly outer: Scope | undefined,
    names: Readonly<Record<string, CelType>> = {},
  ) {
    this.names = new Map(Object.entries(names));
  }

  find(name: string): CelType | undefined {
    return this.names.get(name) ?? this.outer?.find(name);
  }
}
