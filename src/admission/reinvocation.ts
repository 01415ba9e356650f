// Which policies or webhooks run a second time. Those that want it do when anything was changed after they
// first ran, also by themselves; one that did not run in the first round does not in the second.
import type { KubeObject } from '../machinery/object.js';
import { isUnchanged, keepObject, type KeptObject } from './stored-object.js';

export class Reinvocation {
  /** The object as they left it. */
  private lastOutput: KeptObject;
  private waiting = new Set<string>();
  private readonly due = new Set<string>();

  isDue(invocation: string): boolean {
    return this.due.has(invocation);
  }

  /** Records that an invocation that wants a second round has run. */
  applied(invocation: string): void {
    this.waiting.add(invocation);
  }

  /** Makes all invocations recorded so far due, since the object has changed. */
  changed(): void {
    for (const invocation of this.waiting) this.due.add(invocation);
    this.waiting = new Set();
  }

  /** Keeps a copy of the object, unless no invocation waits for a second round. */
  async keepOutput(object: KubeObject | undefined): Promise<void> {
    this.lastOutput = this.waiting.size === 0 ? undefined : await keepObject(object);
  }

  async isOutput(object: KubeObject | undefined): Promise<boolean> {
    return this.waiting.size === 0 || (await isUnchanged(this.lastOutput, object));
  }
}
