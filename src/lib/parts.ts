// A walk through something large, in parts, without a generator for each of its values.
//
// Who walks asks before each entry of a map or list whether this part has had its share (`take`, or `each` that does).
// If so, it leaves the rest of its entries and returns as if it had been through, and so do those it was called by;
// `rest` goes on where they were. So what a walk makes must not depend on being through: it fills sets, maps and lists
// that it already handed out.
import { closedNames } from './closed-maps.js';
import type { Steps } from './turns.js';

/** So many entries are walked over in a few milliseconds. What is smaller is never divided. */
const SHARE = 4096;

/** Listing the names of a map is a call of the engine's, and takes this part of the time of walking over them. */
const LISTING = 4;

export class Parts {
  #left: number;
  #rest: (() => void)[] = [];
  #ended = false;

  /** `place`: remembers where the walk is, and answers how to get there again. */
  constructor(
    private readonly place?: () => () => void,
    private readonly share = SHARE,
  ) {
    this.#left = share;
  }

  /** Before each entry: whether it still belongs to this part. If not, the rest is to be left. */
  // hot: for each entry of every written object.
  take(): boolean {
    return --this.#left >= 0;
  }

  /** What goes on in a later part. */
  leave(rest: () => void): void {
    if (this.#ended) return;
    const back = this.place?.();
    this.#rest.push(() => {
      back?.();
      rest();
    });
  }

  /** `visit` for each number below `count`, and at last `then`. */
  each(count: number, visit: (at: number) => void, then?: () => void, from = 0): void {
    for (let at = from; at < count; at++) {
      if (!this.take()) return this.leave(() => this.each(count, visit, then, at));
      visit(at);
    }
    then?.();
  }

  /** `step` until it answers false. */
  loop(step: () => boolean): void {
    do {
      if (!this.take()) return this.leave(() => this.loop(step));
    } while (step());
  }

  /** `then` with what comes of the steps. */
  run<T>(steps: Steps<T>, then: (value: T) => void): void {
    const { done, value } = steps.next();
    if (done) then(value);
    else {
      this.#left = 0;
      this.leave(() => this.run(steps, then));
    }
  }

  /** The names of an object, which are many for a large one. */
  names(object: object): readonly string[] {
    const closed = closedNames(object);
    if (closed !== undefined) return closed;
    const names = Object.keys(object);
    this.#left -= names.length / LISTING;
    return names;
  }

  /** Nothing of the rest is wanted any more. */
  end(): void {
    this.#rest = [];
    this.#ended = true;
    this.#left = 0;
  }

  /** To be asked after the walk: small ones need no `rest`, and so no generator. */
  get isLeft(): boolean {
    return this.#rest.length > 0;
  }

  *rest(): Steps<void> {
    for (let part = this.#rest.pop(); part !== undefined; part = this.#rest.pop()) {
      if (this.#left <= 0) {
        yield;
        this.#left = this.share;
      }
      part();
    }
  }
}

/** The `place` of a walk that keeps the path to where it is. */
export function samePath(walk: { path: string[] }): () => void {
  const path = [...walk.path];
  return () => {
    walk.path = path;
  };
}

/** For walks that are not divided, whatever their length. */
export const UNDIVIDED = new Parts(undefined, Infinity);
