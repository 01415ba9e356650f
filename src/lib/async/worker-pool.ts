// Work on something large that needs nothing but bytes runs on a worker thread, so that the event loop stays free.
// Messages are plain data, and what is large in a message is bytes: copying a tree costs as much as working on it.

/** A kind of work, by the name that both threads have for it. */
export interface Task<Work extends object, Answer extends object> {
  readonly name: string;
  /** Never there: what the work is, and what comes of it. */
  readonly types?: { readonly work: Work; readonly answer: Answer };
}

export const task = <Work extends object, Answer extends object>(name: string): Task<Work, Answer> => ({ name });

/** What the worker thread has to know for some work: sent once, and kept by the thread under its id. */
export interface WorkerRequirement {
  readonly id: string;
  json(): Promise<Uint8Array>;
}

export interface WorkerTaskOptions {
  readonly requires?: WorkerRequirement | undefined;
  /** In milliseconds since the epoch: what is not begun by then is not begun. */
  readonly deadlineMs?: number | undefined;
  /** Members of the work whose bytes are transferred instead of copied: the caller no longer has them. */
  readonly transfer?: readonly string[];
}

export interface WorkerPool {
  /** Work on less than this runs inline. */
  readonly minBytes: number;
  /** Fails with RunInline when the caller has to do the work itself. */
  run<Work extends object, Answer extends object>(
    task: Task<Work, Answer>,
    work: Work,
    options?: WorkerTaskOptions,
  ): Promise<Answer>;
}

/** No worker thread started, or the work turned out to need what only the main thread has. */
export class RunInline extends Error {}

/** The result of `offloaded`; of `inline` when the worker cannot do the work. */
export async function withInlineFallback<T>(offloaded: Promise<T>, inline: () => T | Promise<T>): Promise<T> {
  try {
    return await offloaded;
  } catch (error) {
    if (!(error instanceof RunInline)) throw error;
    return inline();
  }
}
