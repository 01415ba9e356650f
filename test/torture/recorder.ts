import type { Get, History, List, Span, Write } from './history.js';

/** The history of a round while it is made. */
export interface Recorder extends History {
  readonly writes: Write[];
  readonly gets: Get[];
  readonly lists: List[];
  readonly spans: Span[];
  /** Calls that had no answer and no error within their deadline. */
  readonly overdue: string[];
  /** The next moment. */
  tick(): number;
  /** Resolves when so many further calls have ended. */
  progress(calls: number): Promise<void>;
  called(): void;
}

export function createRecorder(from: number): Recorder {
  let moment = 0;
  let calls = 0;
  const waiting = new Set<{ until: number; wake: () => void }>();
  return {
    from,
    writes: [],
    gets: [],
    lists: [],
    spans: [],
    overdue: [],
    tick: () => ++moment,
    progress: (further) => new Promise((wake) => waiting.add({ until: calls + further, wake })),
    called() {
      calls++;
      for (const one of waiting) {
        if (one.until > calls) continue;
        waiting.delete(one);
        one.wake();
      }
    },
  };
}
