// One thread serves everybody: long work checks the time between its steps, and yields to the event loop.
import { SLICE_MS } from './time-slice.js';
import { YieldQueue } from './yield-queue.js';

/**
 * Awaited between two parts of work on something large. All such work shares one slice of each event loop iteration:
 * when there is much of it, the rest resumes in later iterations, in the order of the calls. Resolves with how long the
 * caller may hold the thread now.
 */
export function yieldToEventLoop(): Promise<number> {
  return queue.wait();
}

/** Work that may be interrupted wherever it yields. */
export type StepGenerator<T> = Generator<void, T, void>;

/** So many small items are visited in a few milliseconds. */
const SMALL_ONES = 2048;

/** `visit` for each. */
export function* eachStep<T>(items: readonly T[], visit: (item: T) => void): StepGenerator<void> {
  for (let at = 0; at < items.length; at++) {
    visit(items[at] as T);
    if (at % SMALL_ONES === SMALL_ONES - 1) yield;
  }
}

/** Runs all steps without yielding to the event loop. */
export function runSync<T>(steps: StepGenerator<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs the steps one after another, and yields to the event loop whenever a slice is used up. */
export async function runCooperatively<T>(steps: StepGenerator<T>): Promise<T> {
  const yielder = new Yielder();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await yielder.yieldIfDue();
  }
}

export class Yielder {
  #sliceStartedMs: number;
  #sliceMs = SLICE_MS;

  constructor(
    private readonly nowMs: () => number = NOW_MS,
    private readonly waiting: YieldQueue = queue,
  ) {
    this.#sliceStartedMs = nowMs();
  }

  /** The slice is used up. */
  get isDue(): boolean {
    return this.nowMs() - this.#sliceStartedMs >= this.#sliceMs;
  }

  /** To be awaited between two steps, each of which is short. */
  async yieldIfDue(): Promise<void> {
    if (!this.isDue) return;
    this.#sliceMs = await this.waiting.wait();
    this.#sliceStartedMs = this.nowMs();
  }
}

const NOW_MS = (): number => performance.now();
// Data that arrived meanwhile is read after the immediates that the last read scheduled.
const queue = new YieldQueue(NOW_MS, (run) => setImmediate(() => setImmediate(run)));
