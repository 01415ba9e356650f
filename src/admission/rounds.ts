import type { Round } from './plugin.js';

/** The rounds of one write: the first, and a second if any plugin requests it. */
export class Rounds implements Round {
  private wanted = false;
  private second = false;
  private kept: Map<string, object> | undefined;

  get again(): boolean {
    return this.second;
  }

  requestReinvocation(): void {
    this.wanted = true;
  }

  notes<T extends object>(plugin: string, make: () => T): T {
    const kept = (this.kept ??= new Map());
    const known = kept.get(plugin) as T | undefined;
    if (known !== undefined) return known;
    const made = make();
    kept.set(plugin, made);
    return made;
  }

  /** Starts the second round, when a plugin requested it and it has not run. */
  next(): boolean {
    if (this.second || !this.wanted) return false;
    return (this.second = true);
  }
}
