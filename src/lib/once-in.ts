import type { Clock } from './clock.js';

/** What is asked for many times in a row is done once for all of them, this long after the first. */
export function onceIn(clock: Clock, ms: number, run: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    clock.after(ms, () => {
      asked = false;
      run();
    });
  };
}
