// The young generation of V8's heap. V8 doubles it whenever much of it is still in use after a collection, up to two halves of 16 MB,
// in which a busy server then has 24 MB of garbage at any time. With halves of 4 MB it answers as many requests (docs/lab).
import { PerformanceObserver } from 'node:perf_hooks';
import v8 from 'node:v8';
import type { Clock } from '../../lib/async/clock.js';

/** V8 makes it smaller while a server is idle, and gives no sign of it. */
const CHECK_MS = 5_000;
/** Both halves. */
const ENOUGH_BYTES = 8 * 1024 ** 2;
/** Times its size. */
const DOUBLES = 2;
const STAYS = 1;

export interface YoungGenerationParts {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  /** Its size, in use or not. */
  readonly youngBytes: () => number;
  /** How many times as large V8 makes it when it grows. */
  readonly setYoungGrowth: (factor: number) => void;
  /** Calls back soon after each collection, until the answer is called. */
  readonly onCollections: (listener: () => void) => () => void;
}

/** Lets it grow until it is large enough, and not beyond. */
export function limitYoungGeneration(parts: YoungGenerationParts): void {
  const { clock, stopping, youngBytes, setYoungGrowth } = parts;
  let stopListening: (() => void) | undefined;
  const stay = (): void => {
    setYoungGrowth(STAYS);
    stopListening?.();
    stopListening = undefined;
  };
  const hasEnough = (): boolean => youngBytes() >= ENOUGH_BYTES;
  const check = (): void => {
    if (stopping.aborted) return stopListening?.();
    if (hasEnough()) stay();
    else {
      setYoungGrowth(DOUBLES);
      stopListening ??= parts.onCollections(() => hasEnough() && stay());
    }
    clock.after(CHECK_MS, check);
  };
  check();
}

export const youngParts = {
  youngBytes: (): number =>
    v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? ENOUGH_BYTES,
  setYoungGrowth: (factor: number): void => v8.setFlagsFromString(`--semi-space-growth-factor=${factor}`),
  onCollections(listener: () => void): () => void {
    const observer = new PerformanceObserver(listener);
    observer.observe({ entryTypes: ['gc'] });
    return () => observer.disconnect();
  },
};
