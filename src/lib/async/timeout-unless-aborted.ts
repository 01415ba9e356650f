import type { Clock } from './clock.js';

/** Calls back after this time, unless the signal comes first. */
export function timeoutUnlessAborted(clock: Clock, ms: number, signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) return;
  const cancel = clock.after(ms, () => {
    signal.removeEventListener('abort', cancel);
    callback();
  });
  signal.addEventListener('abort', cancel, { once: true });
}
