// Work on something large that needs nothing but bytes runs on a worker thread, so that the event loop stays free.
// Messages are plain data, and what is large in a message is bytes: copying a tree costs as much as working on it.
import type { MaybePromise } from './maybe-promise.js';

/** What is smaller takes some tens of milliseconds at the most, inline. */
export const WORKER_MIN_BYTES = 128 * 1024;

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

/** The workers, where so many bytes are enough for them. */
export const workersForBytes = (workers: WorkerPool | undefined, bytes: number): WorkerPool | undefined =>
  workers !== undefined && bytes >= workers.minBytes ? workers : undefined;

/** Work that both threads can do: `onWorker` where there are workers for it, `inline` where not, and when they cannot do it. */
// hot: nearly all is small, and done at once.
export function offload<T>(
  workers: WorkerPool | undefined,
  onWorker: (workers: WorkerPool) => Promise<T>,
  inline: () => MaybePromise<T>,
): MaybePromise<T> {
  return workers === undefined ? inline() : withInlineFallback(onWorker(workers), inline);
}

async function withInlineFallback<T>(offloaded: Promise<T>, inline: () => MaybePromise<T>): Promise<T> {
  try {
    return await offloaded;
  } catch (error) {
    if (!(error instanceof RunInline)) throw error;
    return inline();
  }
}
