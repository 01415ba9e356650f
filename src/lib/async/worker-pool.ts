// Work on something large that needs nothing but bytes is done on a worker thread, so that nobody waits for it here. What
// goes over and comes back is plain, and what is large in it is bytes: to copy a tree takes as long as to work on it.

/** A kind of work, by the name that both threads have for it. */
export interface Task<Work extends object, Answer extends object> {
  readonly name: string;
  /** Never there: what the work is, and what comes of it. */
  readonly types?: { readonly work: Work; readonly answer: Answer };
}

export const task = <Work extends object, Answer extends object>(name: string): Task<Work, Answer> => ({ name });

/** What the worker thread has to know for some work: it is told once, and keeps it under its id. */
export interface WorkerRequirement {
  readonly id: string;
  json(): Promise<Uint8Array>;
}

export interface WorkerTaskOptions {
  readonly requires?: WorkerRequirement | undefined;
  /** In milliseconds since the epoch: what is not begun by then is not begun. */
  readonly deadlineMs?: number | undefined;
  /** Members of the work that are bytes of nobody else: they go over as they are, and are not there any more. */
  readonly transfer?: readonly string[];
}

export interface WorkerPool {
  /** What is smaller is done where it is. */
  readonly minBytes: number;
  /** Fails with RunInline where it has to be done here all the same. */
  run<Work extends object, Answer extends object>(
    task: Task<Work, Answer>,
    work: Work,
    options?: WorkerTaskOptions,
  ): Promise<Answer>;
}

/** No thread came up, or the work turned out to need what only this one knows. */
export class RunInline extends Error {}

/** What comes of the work, wherever it can be done. */
export async function withInlineFallback<T>(offloaded: Promise<T>, inline: () => T | Promise<T>): Promise<T> {
  try {
    return await offloaded;
  } catch (error) {
    if (!(error instanceof RunInline)) throw error;
    return inline();
  }
}
