const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Runs when the signal aborts, at once if it has; returns a function that removes the listener. Thousands may wait for
 * one signal: it has one listener for all of them, and whoever leaves is not looked for among the others.
 */
export function whenAborted(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) {
    run();
    return () => undefined;
  }
  let set = waiting.get(signal);
  if (set === undefined) {
    const all = (set = new Set());
    waiting.set(signal, all);
    signal.addEventListener('abort', () => all.forEach((each) => each()), { once: true });
  }
  const mine = set.add(run);
  return () => void mine.delete(run);
}

/** What somebody may stop reading: a ResponseSink, without the room that declares it. */
interface Gone {
  readonly signal: AbortSignal;
  whenGone?(run: () => void): () => void;
}

/** Runs when nobody reads an answer any more, at once if so; returns a function that removes the listener. */
export const whenGone = (sink: Gone, run: () => void): (() => void) =>
  sink.whenGone?.(run) ?? whenAborted(sink.signal, run);
