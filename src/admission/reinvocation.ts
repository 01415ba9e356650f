// Which policies or webhooks are asked a second time. Those that want it are when anything was changed after they were
// first asked, also by themselves; one that was not asked in the first round is not in the second.
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

  /** One that wants it was asked. */
  applied(invocation: string): void {
    this.waiting.add(invocation);
  }

  /** The object has changed: all that were asked so far are due. */
  changed(): void {
    for (const invocation of this.waiting) this.due.add(invocation);
    this.waiting = new Set();
  }

  /** Where nobody waits to be asked again it makes no difference what comes of it. */
  async keepOutput(object: KubeObject | undefined): Promise<void> {
    this.lastOutput = this.waiting.size === 0 ? undefined : await keepObject(object);
  }

  async isOutput(object: KubeObject | undefined): Promise<boolean> {
    return this.waiting.size === 0 || (await isUnchanged(this.lastOutput, object));
  }
}
