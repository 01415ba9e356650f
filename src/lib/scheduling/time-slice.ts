/** How long work may hold the thread while nobody has waited for long. */
export const SLICE_MS = 5;
/** Work that waits may hold the thread for this share of the time that others have held it: it has a third. */
const SHARE_OF_WAIT = 1 / 2;
/** However long others have: an event-loop iteration is to stay below 50 ms wherever that depends on us. */
const MAX_SLICE_MS = 40;

/** The share of an event loop iteration that many pieces of work have together. */
export class TimeSlice {
  #beganMs: number | undefined = undefined;
  #endsMs = -Infinity;

  /**
   * `ended`: called after an iteration in which `exhausted` was read. `waitingSinceMs`: since when the oldest piece has
   * waited, if one has. The longer others have held the thread meanwhile, the longer is the slice: work that always let
   * others go first would never end on a server that has more to do than it can.
   */
  constructor(
    private readonly nowMs: () => number = () => performance.now(),
    private readonly ended?: () => void,
    private readonly waitingSinceMs?: () => number | undefined,
  ) {}

  /** Read before each piece: when true, the piece waits for the next iteration. */
  // hot: for each request of HTTP/2, and each policy of a write.
  get exhausted(): boolean {
    const now = this.nowMs();
    if (this.#beganMs !== undefined) return now >= this.#endsMs;
    this.#beganMs = now;
    // Since the last slice: while it lasted, pieces waited for each other.
    const othersMs = now - Math.max(this.waitingSinceMs?.() ?? now, this.#endsMs);
    this.#endsMs = now + Math.min(MAX_SLICE_MS, Math.max(SLICE_MS, othersMs * SHARE_OF_WAIT));
    setImmediate(this.#end);
    return false;
  }

  /** How much is left of it. */
  get remainingMs(): number {
    return this.#endsMs - this.nowMs();
  }

  readonly #end = (): void => {
    this.#beganMs = undefined;
    this.ended?.();
  };
}
