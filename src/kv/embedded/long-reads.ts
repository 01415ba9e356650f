// Reads that take longer than one step. Each has a snapshot of the engine, whose pages are not reused meanwhile and of which there
// can only be so many: beyond that, reads wait.
import { runCooperatively, type StepGenerator } from '../../lib/scheduling/yield.js';

const MAX_LONG_READS = 16;

export class LongReads {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** What is over after its first step never waits. `begin` is called again for one that had to. */
  async run<T>(begin: () => StepGenerator<T>): Promise<T> {
    for (;;) {
      const steps = begin();
      const { done, value } = steps.next();
      if (done) return value;
      if (this.#running < MAX_LONG_READS) return this.#runOn(steps);
      steps.return(undefined as never);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async #runOn<T>(steps: StepGenerator<T>): Promise<T> {
    this.#running++;
    try {
      return await runCooperatively(steps);
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }
}
