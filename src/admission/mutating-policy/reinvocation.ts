// Which policies run a second time. Those that ask for it do when anything was changed after they were first asked,
// also by themselves; one that was not asked in the first round is not in the second.
import type { KubeObject } from '../../machinery/object.js';
import { deepCopy } from '../../schema/deep-copy.js';
import { equalTrees } from '../../schema/deep-equal.js';

export class Reinvocation {
  /** The object as the policies left it. */
  private lastOutput: KubeObject | undefined;
  private waiting = new Set<string>();
  private readonly due = new Set<string>();

  isDue(invocation: string): boolean {
    return this.due.has(invocation);
  }

  /** A policy that asks for it was applied. */
  applied(invocation: string): void {
    this.waiting.add(invocation);
  }

  /** The object has changed: all that were applied so far are due. */
  changed(): void {
    for (const invocation of this.waiting) this.due.add(invocation);
    this.waiting = new Set();
  }

  keepOutput(object: KubeObject | undefined): void {
    this.lastOutput = object && deepCopy(object);
  }

  isOutput(object: KubeObject | undefined): boolean {
    return equalTrees(this.lastOutput, object);
  }
}
