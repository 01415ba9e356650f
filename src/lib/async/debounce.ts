import type { Clock } from './clock.js';

export interface DebounceOptions {
  readonly quietMs: number;
  readonly atMostMs: number;
}

/** What is asked for many times in a row is done once: when nobody asked for a while, or the first has waited long. */
export function debounce(clock: Clock, { quietMs, atMostMs }: DebounceOptions, run: () => void): () => void {
  let firstMs: number | undefined;
  let cancel = (): void => undefined;
  return () => {
    cancel();
    firstMs ??= clock.now();
    const leftMs = firstMs + atMostMs - clock.now();
    cancel = clock.after(Math.max(0, Math.min(quietMs, leftMs)), () => {
      firstMs = undefined;
      run();
    });
  };
}
