export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs?: number;
  /** By what the pause grows; it doubles where nothing is said. */
  readonly factor?: number;
  /** Pauses are longer by up to this part of them, so that those who fail together do not come back together. */
  readonly jitter?: { readonly part: number; readonly random: () => number };
}

/** Pauses between attempts, each longer than the one before. */
export class Backoff {
  readonly #options: BackoffOptions;
  #ms: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#ms = options.firstMs;
  }

  /** How long to wait before the next attempt. */
  next(): number {
    const { maxMs = Infinity, factor = 2, jitter } = this.#options;
    const ms = Math.min(this.#ms, maxMs);
    this.#ms = Math.min(ms * factor, maxMs);
    return jitter === undefined ? ms : ms * (1 + jitter.part * jitter.random());
  }
}
