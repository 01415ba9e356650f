// How work on something is done, by its size: what is small at once, what is large cooperatively. Whoever has work to do
// writes its stages once; nobody else compares sizes. What is larger still and cannot be divided runs on a worker thread
// (async/worker-pool.ts).
import type { MaybePromise } from '../async/maybe-promise.js';
import { runCooperatively, runSync, type StepGenerator, yieldToEventLoop } from './yield.js';

/** What is smaller is processed in one slice: it takes a few milliseconds from its first byte to its response. */
export const LARGE_BYTES = 64 * 1024;

export interface SizedWork {
  /** For what has a faster way than steps while it is small. */
  readonly isLarge: boolean;
  /** All steps at once, or with yields to the event loop in between. */
  run<T>(steps: StepGenerator<T>): MaybePromise<T>;
  /** Between two stages: there is something to await only where the work is large. */
  pause(): Promise<unknown> | undefined;
}

// hot: several times for every write.
export const workOn = (bytes: number): SizedWork => (bytes > LARGE_BYTES ? LARGE : SMALL);

export const SMALL: SizedWork = { isLarge: false, run: runSync, pause: () => undefined };
export const LARGE: SizedWork = { isLarge: true, run: runCooperatively, pause: yieldToEventLoop };
