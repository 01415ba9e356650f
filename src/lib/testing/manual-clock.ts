import type { Clock } from '../async/clock.js';

/** Moved by hand, in tests. */
export class ManualClock implements Clock {
  #now = Date.parse('2030-01-01T00:00:00Z');
  #timers: { readonly atMs: number; readonly callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { atMs: this.#now + ms, callback };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  /** Runs what is due, and yields until the work it began has settled. */
  async move(ms: number): Promise<void> {
    const endMs = this.#now + ms;
    for (;;) {
      const due = this.#timers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.#now = Math.max(this.#now, due.atMs);
      due.callback();
      await new Promise(setImmediate);
    }
    this.#now = endMs;
    await new Promise(setImmediate);
  }
}
