// Writes wait for the end of the turn, so that what was answered meanwhile leaves together.

/**
 * Thousands of connections may have something to send at once. So many are written to in one turn; the others wait, and
 * let those go first that come meanwhile: they have one answer each.
 */
export const MOST_WRITTEN_TO = 64;

export interface Flushed {
  flush(): void;
}

export class Turns {
  #waiting: Flushed[] = [];
  /** Of earlier turns, from `#next` on. */
  #left: Flushed[] = [];
  #next = 0;
  #asked = false;

  /** Whoever asks sees to it that it asks once. */
  atEnd(connection: Flushed): void {
    this.#waiting.push(connection);
    this.#ask();
  }

  #ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    this.#asked = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    const now = Math.min(waiting.length, MOST_WRITTEN_TO);
    for (let i = 0; i < now; i++) (waiting[i] as Flushed).flush();
    for (let i = now; i < waiting.length; i++) this.#left.push(waiting[i] as Flushed);
    if (this.#left.length > 0) this.#goOn();
  };

  /** Some of them, however many came meanwhile. */
  #goOn(): void {
    const end = Math.min(this.#left.length, this.#next + MOST_WRITTEN_TO / 2);
    while (this.#next < end) (this.#left[this.#next++] as Flushed).flush();
    if (this.#next < this.#left.length) return this.#ask();
    this.#left = [];
    this.#next = 0;
  }
}
