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
 * And for one that has begun to write. Nobody waits for others there, so that it ends soon, on a slow disk a little later; and
 * who went on meanwhile would do all its work for a conflict.
 */
const MAX_WRITE_MS = 1000;

export interface Turn {
  readonly key: string;
  isWriting: boolean;
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
      const turn = { key, isWriting: false };
      this.#lines.set(key, { turn, waiting: [], cancelLimit: undefined });
      return turn;
    }
    return new Promise((resolve) => {
      line.waiting.push(resolve);
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
    line.turn = { key, isWriting: false };
    if (line.waiting.length > 0) this.#limit(line);
    next(line.turn);
  }

  /** Counted only while somebody waits. */
  #limit(line: Line): void {
    line.cancelLimit ??= this.#clock.after(MAX_TURN_MS, () => {
      if (line.turn.isWriting) line.cancelLimit = this.#clock.after(MAX_WRITE_MS, () => this.#pass(line));
      else this.#pass(line);
    });
  }
}
