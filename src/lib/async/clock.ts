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
