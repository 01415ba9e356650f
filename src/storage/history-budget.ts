// What loading history may take over all resources together: pages that load at once, and bytes of pages that stay for
// whoever wants the same next. When nobody replays history any more, nothing of it stays.

/** Each has up to a page of versions in memory while they are decoded and decrypted. */
const MAX_LOADS = 8;
const MAX_BYTES = 16 * 1024 * 1024;

interface KeptPage {
  readonly bytes: number;
  readonly drop: () => void;
}

export class HistoryBudget {
  /** Pages that were loaded so far. */
  loads = 0;
  /** Of the pages that stay. */
  bytes = 0;
  #loading = 0;
  readonly #queue: (() => void)[] = [];
  /** Oldest first. */
  readonly #kept = new Set<KeptPage>();
  #replays = 0;

  constructor(
    private readonly maxBytes: number = MAX_BYTES,
    private readonly maxLoads: number = MAX_LOADS,
  ) {}

  /** Pages that load now, or wait to. */
  get pending(): number {
    return this.#loading + this.#queue.length;
  }

  /** A watch begins to replay history; the answer is called when it is done with that. */
  begin(): () => void {
    this.#replays++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (--this.#replays === 0) this.#dropTo(0);
    };
  }

  /** Loads when it is its turn; not at all once `signal` is aborted. */
  async load<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    // Whoever ends passes its place on, so that nobody who comes meanwhile takes it.
    if (this.#loading >= this.maxLoads) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#loading++;
    try {
      signal.throwIfAborted();
      this.loads++;
      return await run();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#loading--;
      else next();
    }
  }

  /** A page was loaded; `drop` is called when it is to go. */
  keep(bytes: number, drop: () => void): void {
    this.#kept.add({ bytes, drop });
    this.bytes += bytes;
    this.#dropTo(this.#replays === 0 ? 0 : this.maxBytes);
  }

  #dropTo(maxBytes: number): void {
    for (const page of this.#kept) {
      if (this.bytes <= maxBytes) return;
      this.#kept.delete(page);
      this.bytes -= page.bytes;
      page.drop();
    }
  }
}
