// Long selectors of requests under way. Each is parsed once, cooperatively, before anything uses it: to say what
// is wanted, who may, and which objects those are. They go with their requests, but for the one that was parsed last: clients
// repeat themselves.
import { runCooperatively, type StepGenerator } from '../lib/scheduling/yield.js';
import { SelectorError } from './label-requirement.js';

/** In characters: a shorter selector is parsed in a fraction of a millisecond. */
export const LONG_SELECTOR = 4096;

interface Held<S> {
  readonly read: S | SelectorError;
  requests: number;
}

export class HeldSelectors<S> {
  readonly #held = new Map<string, Held<S>>();
  #newest = '';

  constructor(private readonly steps: (text: string) => StepGenerator<S>) {}

  /** Resolves with what releases it. */
  async hold(text: string): Promise<() => void> {
    const read = this.#held.get(text)?.read ?? (await this.#read(text));
    let held = this.#held.get(text);
    if (held === undefined) {
      this.#held.set(text, (held = { read, requests: 0 }));
      const before = this.#newest;
      this.#newest = text;
      this.#leave(before);
    }
    const mine = held;
    mine.requests++;
    return () => {
      mine.requests--;
      this.#leave(text);
    };
  }

  /** Undefined when it is not held. Throws the SelectorError of one that is none. */
  find(text: string): S | undefined {
    if (text.length < LONG_SELECTOR) return undefined;
    const read = this.#held.get(text)?.read;
    if (read instanceof SelectorError) throw read;
    return read;
  }

  #leave(text: string): void {
    if (text !== this.#newest && this.#held.get(text)?.requests === 0) this.#held.delete(text);
  }

  async #read(text: string): Promise<S | SelectorError> {
    try {
      return await runCooperatively(this.steps(text));
    } catch (error) {
      if (error instanceof SelectorError) return error;
      throw error;
    }
  }
}
