/** Somebody who waits. Most never have a signal made: it is asked for only where something is waited for. */
export interface Waiting {
  /** Aborts when it is over with the waiting. */
  readonly signal: AbortSignal;
  /** Whether it is, without a signal for it; absent where there is one anyway. */
  readonly stopped?: boolean;
}

export const isOver = (waiting: Waiting | undefined): waiting is Waiting =>
  waiting !== undefined && (waiting.stopped ?? waiting.signal.aborted);
