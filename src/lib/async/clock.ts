/** Time, injected so that tests move it. */
export interface Clock {
  now(): number;
  /** Calls back once; the answer cancels. Never keeps the process alive. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, 0x7fffffff));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Counts from the start of the process, in fractions of a millisecond, and is never set back. */
export const monotonicClock: Clock = { ...systemClock, now: () => performance.now() };

/**
 * For what looks again and again whether there is something to do: calls back at the next multiple of the period that is not
 * too soon. All who do so wake an idle process together, not each at a time of its own.
 */
export function afterPeriod(clock: Clock, periodMs: number, callback: () => void): () => void {
  const leftMs = periodMs - (clock.now() % periodMs);
  return clock.after(leftMs < periodMs / 2 ? leftMs + periodMs : leftMs, callback);
}
