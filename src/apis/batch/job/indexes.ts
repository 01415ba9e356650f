// Sets of completion indexes in text: `1,3-5,7`.
import { goQuote } from '../../../lib/go/quote.js';

type Interval = readonly [first: number, last: number];

/** How many indexes the text names, or why it is malformed. */
export function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0;
  let total = 0;
  let previous: number | undefined;
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions);
    if (typeof interval === 'string') return interval;
    const [first, last] = interval;
    if (previous !== undefined && previous >= first) return notIncreasing(previous, first);
    total += last - first + 1;
    previous = last;
  }
  return total;
}

/** The first index in both texts; malformed parts are passed over. */
export function firstCommonIndex(a: string, b: string, completions: number): number | undefined {
  if (a === '' || b === '') return undefined;
  const intervals = (text: string): Interval[] =>
    text
      .split(',')
      .map((part) => parseInterval(part, completions))
      .filter((interval): interval is Interval => typeof interval !== 'string');
  const left = intervals(a);
  const right = intervals(b);
  for (let i = 0, j = 0; i < left.length && j < right.length;) {
    const [first, last] = left[i] as Interval;
    const [otherFirst, otherLast] = right[j] as Interval;
    if (first <= otherLast && otherFirst <= last) return Math.max(first, otherFirst);
    if (first <= otherFirst) i++;
    else j++;
  }
  return undefined;
}

function parseInterval(text: string, completions: number): Interval | string {
  const parts = text.split('-');
  if (parts.length > 2) {
    return `the fragment ${goQuote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  }
  const numbers: number[] = [];
  for (const part of parts) {
    if (!/^\+?\d+$/.test(part)) return `cannot convert string to integer for index: ${goQuote(part)}`;
    if (Number(part) >= completions) return `too large index: ${goQuote(part)}`;
    numbers.push(Number(part));
  }
  const [first = 0, last = first] = numbers;
  if (numbers.length === 2 && first >= last) return notIncreasing(first, last);
  return [first, last];
}

const notIncreasing = (previous: number, current: number): string =>
  `non-increasing order, previous: ${previous}, current: ${current}`;
