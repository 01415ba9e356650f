import type { Clock } from './clock.js';

/** How long the server's own loops let a new object be before they write its first status. */
const FIRST_STATUS_DELAY_MS = 4;

/**
 * Calls back once an object has settled: one that has a status at once, a new one after a little while. Who made it often
 * writes it once more right away, with the version that the answer gave, and a status in between would make that a conflict.
 */
export function delayFirstStatus(isNew: boolean, clock: Clock, callback: () => void): void {
  if (isNew) clock.after(FIRST_STATUS_DELAY_MS, callback);
  else callback();
}
