// One thread serves everybody: long work looks at the time between its steps, and lets others have their turn.
/** What is smaller is worked on in one turn: it takes a few milliseconds from its first letter to its answer. */
export const LARGE_BYTES = 64 * 1024;

/** How long work may hold the thread. */
const SLICE_MS = 5;

/**
 * For between two parts of work on something large: others have their turn. Those who work so share it: when there are
 * many of them, the rest goes on in later ones, in the order they asked.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    // What came over the network meanwhile is read after the immediates that whoever was just read from asked for.
    setImmediate(() => setImmediate(resumeNext));
  });
}

const waiting: (() => void)[] = [];

/** Lets one go on, who works until the next of these is called. */
function resumeNext(): void {
  if (slice.exhausted) setImmediate(resumeNext);
  else waiting.shift()?.();
}

/** Work that says where others may have their turn: wherever it yields. */
export type StepGenerator<T> = Generator<void, T, void>;

/** So many small things are looked at in a few milliseconds. */
const SMALL_ONES = 2048;

/** `visit` for each. */
export function* eachStep<T>(items: readonly T[], visit: (item: T) => void): StepGenerator<void> {
  for (let at = 0; at < items.length; at++) {
    visit(items[at] as T);
    if (at % SMALL_ONES === SMALL_ONES - 1) yield;
  }
}

/** All of it in this turn. */
export function runSync<T>(steps: StepGenerator<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** One step after another, with turns of others between them. */
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

/** Parts of work that nobody counts: what all of them have of a turn together. */
export class TimeSlice {
  #beganMs: number | undefined = undefined;

  /** `ended`: told when a turn is over in which somebody asked. */
  constructor(
    private readonly nowMs: () => number = () => performance.now(),
    private readonly ended?: () => void,
  ) {}

  /** To be asked before each: it is for the next turn. */
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
