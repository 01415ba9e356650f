// The Retry-After of a level's refused clients: the more are refused again and again, the longer.

const MAX_SECONDS = 32;
/** Refusals a second, over the last Retry-After, that show that clients came back too soon. */
const TOO_MANY_PER_SECOND = 3;

export class RetryAfter {
  /** Refusals by second, oldest first. */
  #history: { readonly second: number; count: number }[] = [];
  #updatedSecond = 0;
  seconds = 1;

  refused(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    const last = this.#history.at(-1);
    if (last?.second === second) {
      last.count++;
      return;
    }
    const keep = Math.min(2 * this.seconds, MAX_SECONDS);
    this.#history = this.#history.filter((entry) => (last?.second ?? second) - entry.second <= keep);
    this.#history.push({ second, count: 1 });
    this.#adjust(second);
  }

  #adjust(second: number): void {
    let refused = 0;
    for (const entry of this.#history) {
      if (entry.second < second && second - entry.second <= this.seconds) refused += entry.count;
    }
    if (second - this.#updatedSecond >= this.seconds && refused >= TOO_MANY_PER_SECOND * this.seconds) {
      this.seconds = Math.min(2 * this.seconds, MAX_SECONDS);
      this.#updatedSecond = second;
    } else if (refused < this.seconds && this.seconds > 1) this.seconds--;
  }
}
