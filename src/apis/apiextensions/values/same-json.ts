// Equality of JSON values that are asked for again and again: first for the innermost, then for what is around them.

/** What is equal is known again: each value is walked over once with each other it is compared to. */
export class SameJson {
  readonly #known = new WeakMap<object, WeakMap<object, boolean>>();

  are(left: unknown, right: unknown): boolean {
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
      return Object.is(left, right);
    }
    if (left === right) return true;
    let others = this.#known.get(left);
    if (others === undefined) this.#known.set(left, (others = new WeakMap()));
    let same = others.get(right);
    if (same === undefined) {
      same = this.#compare(left, right);
      others.set(right, same);
    }
    return same;
  }

  #compare(left: object, right: object): boolean {
    if (Array.isArray(left) || Array.isArray(right)) {
      if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
      return left.every((item, at) => this.are(item, right[at]));
    }
    const names = Object.keys(left);
    if (names.length !== Object.keys(right).length) return false;
    const [mine, theirs] = [left as Record<string, unknown>, right as Record<string, unknown>];
    return names.every((name) => Object.hasOwn(theirs, name) && this.are(mine[name], theirs[name]));
  }
}
