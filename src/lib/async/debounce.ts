import type { Clock } from './clock.js';

export interface DebounceOptions {
  readonly quietMs: number;
  readonly atMostMs: number;
}

/** Many calls in a row run the work once: when no call came for a while, or the first call has waited long. */
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
