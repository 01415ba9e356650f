// Writes wait for the end of the turn, so that what was answered meanwhile leaves together.

/** Thousands of connections may have something to send at once. So many are written to in one turn, in some five ms. */
export const MOST_WRITTEN_TO = 256;
/** Of those that come while others wait, which have one answer each, so many go first. The others wait in line. */
export const MOST_FIRST = 16;

export interface Flushed {
  /** Somebody waits for it, and will ask for more: what is only told to those who watch has time. */
  readonly hasAnswer: boolean;
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
    const waiting = answersFirst(this.#waiting);
    this.#waiting = [];
    const first = Math.min(waiting.length, this.#left.length > 0 ? MOST_FIRST : MOST_WRITTEN_TO);
    for (let i = 0; i < first; i++) (waiting[i] as Flushed).flush();
    for (let i = first; i < waiting.length; i++) this.#left.push(waiting[i] as Flushed);
    if (this.#left.length > 0) this.#goOn(MOST_WRITTEN_TO - first);
  };

  #goOn(count: number): void {
    const end = Math.min(this.#left.length, this.#next + count);
    while (this.#next < end) (this.#left[this.#next++] as Flushed).flush();
    if (this.#next < this.#left.length) return this.#ask();
    this.#left = [];
    this.#next = 0;
  }
}

/** Whoever wrote something that thousands watch would else read the answer, and go on, after all of them were told. */
function answersFirst(waiting: Flushed[]): Flushed[] {
  if (waiting.length === 1) return waiting;
  const others: Flushed[] = [];
  const ordered: Flushed[] = [];
  for (const connection of waiting) (connection.hasAnswer ? ordered : others).push(connection);
  for (const connection of others) ordered.push(connection);
  return ordered;
}
