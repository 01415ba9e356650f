// What is done with field sets, for large ones.
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { FieldSet } from './field-set.js';

/** `change` must do with each path the same whatever other paths there are. */
// hot: for every manager of an updated object.
export function* inPieces(set: FieldSet, change: (piece: FieldSet) => FieldSet): StepGenerator<FieldSet> {
  if (!set.isLarge) return change(set);
  const result = new FieldSet();
  for (const piece of set.pieces()) {
    result.absorb(change(piece));
    yield;
  }
  return result;
}

export function* unionSteps(left: FieldSet, right: FieldSet): StepGenerator<FieldSet> {
  if (left.empty || right.empty || !(left.isLarge || right.isLarge)) return left.union(right);
  const result = new FieldSet();
  yield* absorbSteps(result, left);
  yield* absorbSteps(result, right);
  return result;
}

/** Only while `set` is being built: adds all of `other`, which stays as it is. */
export function* absorbSteps(set: FieldSet, other: FieldSet): StepGenerator<void> {
  if (!other.isLarge) return set.absorb(other);
  for (const piece of other.pieces()) {
    set.absorb(piece);
    yield;
  }
}
