/** Somebody who waits. Most never have a signal made: it is created only where something is awaited. */
export interface Cancellation {
  /** Aborts when it is over with the waiting. */
  readonly signal: AbortSignal;
  /** Whether it is, without a signal for it; absent where there is one anyway. */
  readonly stopped?: boolean;
}

export const isCancelled = (waiting: Cancellation | undefined): waiting is Cancellation =>
  waiting !== undefined && (waiting.stopped ?? waiting.signal.aborted);
