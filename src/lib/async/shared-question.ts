/**
 * A question whose answer must be no older than the asking. Whoever asks in one turn of the event loop shares one: what is
 * sent leaves at the end of the turn. Where many are under way already, whoever asks shares the next one.
 */
export class SharedQuestion<T> {
  readonly #ask: () => Promise<T>;
  readonly #atTurnEnd: (run: () => void) => void;
  /** Of this turn: it has not left yet. */
  #open: Promise<T> | undefined;
  #next: Promise<T> | undefined;
  #beginNext: (() => void) | undefined;
  #underWay = 0;

  constructor(ask: () => Promise<T>, atTurnEnd: (run: () => void) => void = (run) => void setImmediate(run)) {
    this.#ask = ask;
    this.#atTurnEnd = atTurnEnd;
  }

  // hot: every consistent read
  ask(): Promise<T> {
    if (this.#open !== undefined) return this.#open;
    if (this.#underWay < MAX_UNDER_WAY) return this.#begin();
    this.#next ??= new Promise<void>((resolve) => (this.#beginNext = resolve)).then(() => {
      this.#next = undefined;
      return this.#open ?? this.#begin();
    });
    return this.#next;
  }

  #begin(): Promise<T> {
    const asked = this.#ask();
    this.#open = asked;
    this.#underWay++;
    this.#atTurnEnd(() => {
      if (this.#open === asked) this.#open = undefined;
    });
    asked.then(this.#answered, this.#answered);
    return asked;
  }

  readonly #answered = (): void => {
    this.#underWay--;
    this.#beginNext?.();
    this.#beginNext = undefined;
  };
}

const MAX_UNDER_WAY = 4;
