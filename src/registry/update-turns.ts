// Updates of one object, one after another. Each begins with what the one before it stored, instead of working on
// what it read and failing because somebody was quicker: of many writers of one object none works in vain.
import type { Clock } from '../lib/clock.js';
import type { MaybePromise } from '../lib/maybe-promise.js';

/**
 * The longest others wait for one update. It may itself wait for a hook, and the hook may write the same object: then
 * the next goes on, and the store decides who was first.
 */
const MAX_TURN_MS = 20;

/**
 * And for one that has begun to write, or that works on something large. It ends soon, on a slow disk or a busy server a
 * little later; and who went on meanwhile would do all its work for a conflict, and make the others slower by it.
 */
const MAX_PATIENCE_MS = 1000;

export interface Turn {
  readonly key: string;
  /** Others are patient with it. */
  isDear: boolean;
}

interface Line {
  turn: Turn;
  readonly waiting: ((turn: Turn) => void)[];
  cancelLimit: (() => void) | undefined;
}

export class UpdateTurns {
  readonly #lines = new Map<string, Line>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** At once when nobody is at this object. */
  take(key: string): MaybePromise<Turn> {
    const line = this.#lines.get(key);
    if (line === undefined) {
      const turn = { key, isDear: false };
      this.#lines.set(key, { turn, waiting: [], cancelLimit: undefined });
      return turn;
    }
    return new Promise((resolve) => {
      line.waiting.push(resolve);
      this.#limit(line);
    });
  }

  /** It was passed on meanwhile, and another was quicker: the next turn is this one's, before all who wait. */
  async takeAgain(turn: Turn): Promise<Turn> {
    const line = this.#lines.get(turn.key);
    if (line === undefined) return this.take(turn.key);
    if (line.turn === turn) return turn;
    return new Promise((resolve) => {
      line.waiting.unshift(resolve);
      this.#limit(line);
    });
  }

  /** A turn that was passed on already, because it took too long, is nobody's to end. */
  end(turn: Turn): void {
    const line = this.#lines.get(turn.key);
    if (line?.turn === turn) this.#pass(line);
  }

  #pass(line: Line): void {
    line.cancelLimit?.();
    line.cancelLimit = undefined;
    const { key } = line.turn;
    const next = line.waiting.shift();
    if (next === undefined) {
      this.#lines.delete(key);
      return;
    }
    line.turn = { key, isDear: false };
    if (line.waiting.length > 0) this.#limit(line);
    next(line.turn);
  }

  /** Counted only while somebody waits. */
  #limit(line: Line): void {
    line.cancelLimit ??= this.#clock.after(MAX_TURN_MS, () => {
      if (line.turn.isDear) line.cancelLimit = this.#clock.after(MAX_PATIENCE_MS, () => this.#pass(line));
      else this.#pass(line);
    });
  }
}
