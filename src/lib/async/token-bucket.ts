export interface TokenBucketOptions {
  /** So many calls may come at once. */
  readonly burst: number;
  /** After a burst so many, one by default, … */
  readonly tokens?: number;
  /** … in each of these intervals. */
  readonly everyMs: number;
}

/** A rate with a burst: what others make us do must not become what we do to third parties. */
export class TokenBucket {
  readonly #burst: number;
  readonly #refill: number;
  readonly #everyMs: number;
  #left: number;
  #countedAtMs: number;

  constructor({ burst, tokens = 1, everyMs }: TokenBucketOptions, nowMs: number) {
    this.#burst = burst;
    this.#refill = tokens;
    this.#everyMs = everyMs;
    this.#left = burst;
    this.#countedAtMs = nowMs;
  }

  /** Takes a token if there is one. */
  tryTake(nowMs: number): boolean {
    this.#fill(nowMs);
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }

  /** Takes a token in any case; the answer is for how many milliseconds to wait until it is due. */
  take(nowMs: number): number {
    this.#fill(nowMs);
    this.#left--;
    return this.#left >= 0 ? 0 : (-this.#left * this.#everyMs) / this.#refill;
  }

  #fill(nowMs: number): void {
    const passedMs = Math.max(0, nowMs - this.#countedAtMs);
    this.#left = Math.min(this.#burst, this.#left + (passedMs * this.#refill) / this.#everyMs);
    this.#countedAtMs = nowMs;
  }
}
