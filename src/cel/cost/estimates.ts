// Ranges of costs and sizes. They saturate at the largest 64-bit integer, which stands for "unbounded".
import type { Estimate } from '../library.js';

export const UNBOUNDED = 2 ** 64;
export const UNKNOWN_SIZE: Estimate = { min: 0, max: UNBOUNDED };

const bounded = (value: number): number => Math.min(value, UNBOUNDED);

export const fixed = (value: number): Estimate => ({ min: value, max: value });

export const plus = (a: Estimate, b: Estimate): Estimate => ({
  min: bounded(a.min + b.min),
  max: bounded(a.max + b.max),
});

export const times = (a: Estimate, b: Estimate): Estimate => ({
  min: bounded(a.min * b.min),
  max: bounded(a.max * b.max),
});

/** Times a factor, each bound rounded up. */
export const timesFactor = ({ min, max }: Estimate, factor: number): Estimate => ({
  min: bounded(Math.ceil(min * factor)),
  max: bounded(Math.ceil(max * factor)),
});

export const union = (a: Estimate, b: Estimate): Estimate => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
});
