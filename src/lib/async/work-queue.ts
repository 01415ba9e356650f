// Keys that want work, each at most once at a time. A key added while it is worked on is worked on again; one that
// failed comes back after a pause that doubles each time.
import type { Logger } from '../telemetry/log.js';
import { Backoff } from './backoff.js';
import type { Clock } from './clock.js';
import { errorText } from '../text/error-text.js';

export interface WorkQueueOptions {
  readonly name: string;
  /** `again`: not done yet, though nothing failed. */
  readonly work: (key: string) => Promise<'done' | 'again'>;
  readonly concurrency: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly maxPauseMs?: number;
}

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 30_000;

export class WorkQueue {
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #addedWhileRunning = new Set<string>();
  readonly #backoffs = new Map<string, Backoff>();

  constructor(private readonly options: WorkQueueOptions) {}

  add(key: string): void {
    if (this.options.signal.aborted) return;
    if (this.#running.has(key)) this.#addedWhileRunning.add(key);
    else this.#waiting.add(key);
    this.#next();
  }

  #next(): void {
    const { concurrency, signal } = this.options;
    while (this.#running.size < concurrency && !signal.aborted) {
      const [key] = this.#waiting;
      if (key === undefined) return;
      this.#waiting.delete(key);
      this.#running.add(key);
      void this.#run(key);
    }
  }

  async #run(key: string): Promise<void> {
    const { work, log, name, signal } = this.options;
    let outcome: 'done' | 'again' = 'again';
    try {
      outcome = await work(key);
    } catch (error) {
      if (!signal.aborted) log.info(`${name}: ${key}: ${errorText(error)}`);
    }
    this.#running.delete(key);
    if (outcome === 'done') this.#backoffs.delete(key);
    else this.#addLater(key);
    if (this.#addedWhileRunning.delete(key)) this.#waiting.add(key);
    this.#next();
  }

  #addLater(key: string): void {
    const { clock, maxPauseMs = MAX_PAUSE_MS } = this.options;
    const backoff = this.#backoffs.get(key) ?? new Backoff({ firstMs: FIRST_PAUSE_MS, maxMs: maxPauseMs });
    this.#backoffs.set(key, backoff);
    clock.after(backoff.next(), () => this.add(key));
  }
}
