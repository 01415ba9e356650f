import { type Clock, systemClock } from './clock.js';

export interface TimeoutOptions<L> {
  readonly ms: number;
  /** The system's where none is given. */
  readonly clock?: Pick<Clock, 'after'>;
  /** What the answer is when the time is over first; an error that it throws is what the waiting fails with. */
  readonly onTimeout: () => L;
}

/** Waits for work for so long. The work goes on after that, and nobody hears of its failure. */
export function withTimeout<T, L>(
  work: Promise<T>,
  { ms, clock = systemClock, onTimeout }: TimeoutOptions<L>,
): Promise<T | L> {
  let cancel = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  }).then(onTimeout);
  return Promise.race([work, late]).finally(() => cancel());
}
