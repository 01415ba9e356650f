// A walk through something large, in parts, without a generator for each of its values.
//
// Who walks asks before each entry of a map or list whether this part has had its share (`take`, or `each` that does).
// If so, it leaves the rest of its entries and returns as if it had been through, and so do those it was called by;
// `rest` goes on where they were. So what a walk makes must not depend on being through: it fills sets, maps and lists
// that it already handed out.
import { cachedKeys } from '../values/key-cache.js';
import type { StepGenerator } from './yield.js';

/** So many entries are walked over in a few milliseconds. What is smaller is never divided. */
const BUDGET = 4096;

/** Listing the names of a map is a call of the engine's, and takes this part of the time of walking over them. */
const LISTING = 4;

export class ResumableWalk {
  #budgetLeft: number;
  #deferred: (() => void)[] = [];
  #ended = false;

  /** `place`: remembers where the walk is, and answers how to get there again. */
  constructor(
    private readonly place?: () => () => void,
    private readonly budget = BUDGET,
  ) {
    this.#budgetLeft = budget;
  }

  /** Before each entry: whether it still belongs to this part. If not, the rest is to be left. */
  // hot: for each entry of every written object.
  withinBudget(): boolean {
    return --this.#budgetLeft >= 0;
  }

  /** What goes on in a later part. */
  defer(rest: () => void): void {
    if (this.#ended) return;
    const back = this.place?.();
    this.#deferred.push(() => {
      back?.();
      rest();
    });
  }

  /** `visit` for each number below `count`, and at last `then`. */
  each(count: number, visit: (at: number) => void, then?: () => void, from = 0): void {
    for (let at = from; at < count; at++) {
      if (!this.withinBudget()) return this.defer(() => this.each(count, visit, then, at));
      visit(at);
    }
    then?.();
  }

  /** `step` until it answers false. */
  loop(step: () => boolean): void {
    do {
      if (!this.withinBudget()) return this.defer(() => this.loop(step));
    } while (step());
  }

  /** `then` with what comes of the steps. */
  run<T>(steps: StepGenerator<T>, then: (value: T) => void): void {
    const { done, value } = steps.next();
    if (done) then(value);
    else {
      this.#budgetLeft = 0;
      this.defer(() => this.run(steps, then));
    }
  }

  /** The names of an object, which are many for a large one. */
  names(object: object): readonly string[] {
    const closed = cachedKeys(object);
    if (closed !== undefined) return closed;
    const names = Object.keys(object);
    this.#budgetLeft -= names.length / LISTING;
    return names;
  }

  /** Nothing of the rest is wanted any more. */
  end(): void {
    this.#deferred = [];
    this.#ended = true;
    this.#budgetLeft = 0;
  }

  /** To be asked after the walk: small ones need no `rest`, and so no generator. */
  get hasDeferred(): boolean {
    return this.#deferred.length > 0;
  }

  *resume(): StepGenerator<void> {
    for (let part = this.#deferred.pop(); part !== undefined; part = this.#deferred.pop()) {
      if (this.#budgetLeft <= 0) {
        yield;
        this.#budgetLeft = this.budget;
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
export const UNDIVIDED = new ResumableWalk(undefined, Infinity);
