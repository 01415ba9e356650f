/** Somebody who waits. Most never have a signal made: it is asked for only where something is waited for. */
export interface Cancellation {
  /** Aborts when it is over with the waiting. */
  readonly signal: AbortSignal;
  /** Whether it is, without a signal for it; absent where there is one anyway. */
  readonly stopped?: boolean;
}

export const isCancelled = (waiting: Cancellation | undefined): waiting is Cancellation =>
  waiting !== undefined && (waiting.stopped ?? waiting.signal.aborted);
