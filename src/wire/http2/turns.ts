// Writes wait for the end of the turn, so that what was answered meanwhile leaves together.

export interface Flushed {
  flush(): void;
}

export class Turns {
  #waiting: Flushed[] = [];

  /** Whoever asks sees to it that it asks once. */
  atEnd(connection: Flushed): void {
    if (this.#waiting.push(connection) === 1) setImmediate(this.#end);
  }

  readonly #end = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const connection of waiting) connection.flush();
  };
}
