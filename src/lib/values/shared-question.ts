/**
 * A question whose answer must be no older than the asking. Whoever asks while one is under way shares the next with all
 * who do: what is under way may have been answered before.
 */
export class SharedQuestion<T> {
  readonly #ask: () => Promise<T>;
  #underWay: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  // hot: every consistent read
  ask(): Promise<T> {
    if (this.#underWay === undefined) return this.#begin();
    this.#next ??= this.#underWay.then(this.#begin, this.#begin);
    return this.#next;
  }

  readonly #begin = (): Promise<T> => {
    this.#next = undefined;
    const asked = this.#ask();
    const over = (): void => {
      // Where others wait, theirs has begun before this is told.
      if (this.#underWay === asked) this.#underWay = undefined;
    };
    this.#underWay = asked;
    asked.then(over, over);
    return asked;
  };
}
