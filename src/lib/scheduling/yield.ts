// One thread serves everybody: long work checks the time between its steps, and yields to the event loop.
/** What is smaller is processed in one slice: it takes a few milliseconds from its first byte to its response. */
export const LARGE_BYTES = 64 * 1024;

/** How long work may hold the thread. */
const SLICE_MS = 5;

/**
 * Awaited between two parts of work on something large. All such work shares one slice of each event loop iteration:
 * when there is much of it, the rest resumes in later iterations, in the order of the calls.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    // Data that arrived meanwhile is read after the immediates that the last read scheduled.
    setImmediate(() => setImmediate(resumeNext));
  });
}

const waiting: (() => void)[] = [];

/** Resumes one waiting task, which works until it yields again. */
function resumeNext(): void {
  if (slice.exhausted) setImmediate(resumeNext);
  else waiting.shift()?.();
}

/** Work that may be interrupted wherever it yields. */
export type StepGenerator<T> = Generator<void, T, void>;

/** So many small items are visited in a few milliseconds. */
const SMALL_ONES = 2048;

/** `visit` for each. */
export function* eachStep<T>(items: readonly T[], visit: (item: T) => void): StepGenerator<void> {
  for (let at = 0; at < items.length; at++) {
    visit(items[at] as T);
    if (at % SMALL_ONES === SMALL_ONES - 1) yield;
  }
}

/** Runs all steps without yielding to the event loop. */
export function runSync<T>(steps: StepGenerator<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs the steps one after another, and yields to the event loop whenever a slice is used up. */
export async function runCooperatively<T>(steps: StepGenerator<T>): Promise<T> {
  const yielder = new Yielder();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await yielder.yieldIfDue();
  }
}

export class Yielder {
  #sliceStartedMs = performance.now();

  /** The slice is used up. */
  get isDue(): boolean {
    return performance.now() - this.#sliceStartedMs >= SLICE_MS;
  }

  /** To be awaited between two steps, each of which is short. */
  async yieldIfDue(): Promise<void> {
    if (!this.isDue) return;
    await yieldToEventLoop();
    this.#sliceStartedMs = performance.now();
  }
}

/** The share of an event loop iteration that many small pieces of work have together. */
export class TimeSlice {
  #beganMs: number | undefined = undefined;

  /** `ended`: called after an iteration in which `exhausted` was read. */
  constructor(
    private readonly nowMs: () => number = () => performance.now(),
    private readonly ended?: () => void,
  ) {}

  /** Read before each piece: when true, the piece waits for the next iteration. */
  // hot: for each request of HTTP/2, and each policy of a write.
  get exhausted(): boolean {
    if (this.#beganMs !== undefined) return this.nowMs() - this.#beganMs >= SLICE_MS;
    this.#beganMs = this.nowMs();
    setImmediate(this.#end);
    return false;
  }

  readonly #end = (): void => {
    this.#beganMs = undefined;
    this.ended?.();
  };
}

const slice = new TimeSlice();
