// The limits of loading history over all resources together, and initial states of one: pages that load at once, and bytes
// of pages that stay cached for the next watch that needs them. When no watch reads pages any more, none stays.

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

  /** A watch begins to read pages; the answer is called when it is done with that. */
  begin(): () => void {
    this.#replays++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (--this.#replays === 0) this.#dropTo(0);
    };
  }

  /** Loads when a slot is free, in order of arrival; not at all once `signal` is aborted. */
  async load<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    // A finished load hands its slot to the first in the queue, so that no later caller gets in between.
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
