// A walk through something large, in slices, without a generator for each of its values.
//
// The walking function checks before each entry of a map or list whether the slice still has budget (`withinBudget`, or
// `each`, which checks it). If not, it defers its remaining entries and returns as if it were complete, and so do its
// callers; `resume` continues where they stopped. So the result of a walk must not depend on completion: the walk fills
// sets, maps and lists that it already handed out.
import { cachedKeys } from '../values/key-cache.js';
import type { StepGenerator } from './yield.js';

/** So many entries are walked over in a few milliseconds. What is smaller is never divided. */
const BUDGET = 4096;

/** Listing the names of a map is one call of the engine, at this fraction of the cost of walking over them. */
const LISTING = 4;

export class ResumableWalk {
  #budgetLeft: number;
  #deferred: (() => void)[] = [];
  #ended = false;

  /** `place`: saves the position of the walk, and returns a function that restores it. */
  constructor(
    private readonly place?: () => () => void,
    private readonly budget = BUDGET,
  ) {
    this.#budgetLeft = budget;
  }

  /** Called before each entry: whether this slice has budget for it. If not, the caller defers the rest. */
  // hot: for each entry of every written object.
  withinBudget(): boolean {
    return --this.#budgetLeft >= 0;
  }

  /** `rest` runs in a later slice. */
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

  /** Read after the walk: a small one defers nothing, and needs no generator. */
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
    // What comes after a long walk is a step of its own.
    yield;
  }
}

/** The `place` of a walk that keeps the path to where it is. */
export function samePath<Step>(walk: { path: Step[] }): () => void {
  const path = [...walk.path];
  return () => {
    walk.path = path;
  };
}

/** For walks that are not divided, whatever their length. */
export const UNDIVIDED = new ResumableWalk(undefined, Infinity);
