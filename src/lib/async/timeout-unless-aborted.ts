import type { Clock } from './clock.js';
import { whenAborted } from './when-aborted.js';

/** Calls back after this time, unless the signal comes first. */
export function timeoutUnlessAborted(clock: Clock, ms: number, signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) return;
  const cancel = clock.after(ms, () => {
    forget();
    callback();
  });
  const forget = whenAborted(signal, cancel);
}
