// How often worker processes may end soon after their start before that is taken for a fault of the server.

export interface RestartBudgetOptions {
  readonly nowMs: () => number;
}

/** A worker that served for so long ended for a reason of its own. */
const SHORT_LIFE_MS = 10_000;
const WINDOW_MS = 60_000;
const MAX_SHORT_LIVES = 5;

export class RestartBudget {
  readonly #nowMs: () => number;
  #shortLivesMs: number[] = [];

  constructor({ nowMs }: RestartBudgetOptions) {
    this.#nowMs = nowMs;
  }

  /** Counts a worker that has ended. False when it is not to be replaced. */
  allowsReplacing(startedMs: number): boolean {
    const nowMs = this.#nowMs();
    if (nowMs - startedMs >= SHORT_LIFE_MS) return true;
    this.#shortLivesMs = this.#shortLivesMs.filter((endedMs) => nowMs - endedMs < WINDOW_MS);
    this.#shortLivesMs.push(nowMs);
    return this.#shortLivesMs.length < MAX_SHORT_LIVES;
  }
}
