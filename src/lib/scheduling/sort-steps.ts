import type { StepGenerator } from './yield.js';

/** So many are sorted, or merged, in a few milliseconds. */
const RUN = 2048;

/** Sorted as by sort(), in slices. May sort in place. */
export function* sortSteps<T>(items: T[], compare: (left: T, right: T) => number): StepGenerator<T[]> {
  if (items.length <= RUN) return items.sort(compare);
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += RUN) {
    runs.push(items.slice(at, at + RUN).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) merged.push(yield* merge(runs[i] as T[], runs[i + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] as T[];
}

function* merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (left: T, right: T) => number,
): StepGenerator<T[]> {
  const merged: T[] = [];
  let [l, r] = [0, 0];
  while (l < left.length && r < right.length) {
    merged.push((compare(left[l] as T, right[r] as T) <= 0 ? left[l++] : right[r++]) as T);
    if (merged.length % RUN === 0) yield;
  }
  while (l < left.length) merged.push(left[l++] as T);
  while (r < right.length) merged.push(right[r++] as T);
  return merged;
}
