import { whenAborted } from './when-aborted.js';

/** Resolves after the time, or as soon as the signal aborts: who paused looks at the signal. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
    const forget = whenAborted(signal, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
