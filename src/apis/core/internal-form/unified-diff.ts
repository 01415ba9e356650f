// A unified diff of two texts, with three lines of context, by the longest-matching-block method (as Python's difflib
// and its many translations do it, so that the chosen blocks are the same ones).

const CONTEXT_LINES = 3;
/** From this many lines on, lines that make up more than a hundredth of the text do not start a match. */
const POPULAR_FROM_LINES = 200;
/** Pairs of equal lines looked at. Beyond them nothing more is found in common: the rest is shown as replaced. */
const MAX_COMPARED = 1_000_000;
/** Of longer texts, what they have in common at both ends is left out first, and no more than this of what is between. */
const LONG_LINES = 100_000;
/** A diff is for people. One that goes on and on ends here, and says so. */
const MAX_DIFF_LENGTH = 1024 * 1024;
const CUT = '...\n';

/** Lines come without their line ends. The answer has no file header; it is empty when the texts are equal. */
export function unifiedDiff(a: readonly string[], b: readonly string[]): string {
  let out = '';
  for (const line of diffLines(a, b)) {
    out += line;
    if (out.length > MAX_DIFF_LENGTH) return out + CUT;
  }
  return out;
}

function* diffLines(a: readonly string[], b: readonly string[]): Generator<string> {
  for (const group of groupedOperations(a, b)) {
    const first = group[0] as Operation;
    const last = group[group.length - 1] as Operation;
    yield `@@ -${range(first.aStart, last.aEnd)} +${range(first.bStart, last.bEnd)} @@\n`;
    for (const { tag, aStart, aEnd, bStart, bEnd } of group) {
      if (tag === 'equal') {
        for (let at = aStart; at < aEnd; at++) yield ` ${a[at]}\n`;
        continue;
      }
      if (tag !== 'insert') for (let at = aStart; at < aEnd; at++) yield `-${a[at]}\n`;
      if (tag !== 'delete') for (let at = bStart; at < bEnd; at++) yield `+${b[at]}\n`;
    }
  }
}

interface Operation {
  readonly tag: 'equal' | 'replace' | 'delete' | 'insert';
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

interface Block {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

/** Where to look for what is in common. */
interface Part {
  readonly aLow: number;
  readonly aHigh: number;
  readonly bLow: number;
  readonly bHigh: number;
}

function range(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}

/** Operations in groups that lie further apart than twice the context, each with its context around it. */
function groupedOperations(a: readonly string[], b: readonly string[]): Operation[][] {
  const operations = operationsBetween(a, b);
  const first = operations[0];
  if (first?.tag === 'equal') operations[0] = lastLines(first, CONTEXT_LINES);
  const last = operations[operations.length - 1];
  if (last?.tag === 'equal') operations[operations.length - 1] = firstLines(last, CONTEXT_LINES);
  const groups: Operation[][] = [];
  let group: Operation[] = [];
  for (const operation of operations) {
    if (operation.tag === 'equal' && operation.aEnd - operation.aStart > 2 * CONTEXT_LINES) {
      group.push(firstLines(operation, CONTEXT_LINES));
      groups.push(group);
      group = [lastLines(operation, CONTEXT_LINES)];
    } else group.push(operation);
  }
  if (group.length > 1 || (group.length === 1 && group[0]?.tag !== 'equal')) groups.push(group);
  return groups.filter((each) => each.some(({ tag }) => tag !== 'equal'));
}

const firstLines = (operation: Operation, count: number): Operation => ({
  ...operation,
  aEnd: Math.min(operation.aEnd, operation.aStart + count),
  bEnd: Math.min(operation.bEnd, operation.bStart + count),
});

const lastLines = (operation: Operation, count: number): Operation => ({
  ...operation,
  aStart: Math.max(operation.aStart, operation.aEnd - count),
  bStart: Math.max(operation.bStart, operation.bEnd - count),
});

function operationsBetween(a: readonly string[], b: readonly string[]): Operation[] {
  const operations: Operation[] = [];
  let aAt = 0;
  let bAt = 0;
  for (const block of [...matchingBlocks(a, b), { a: a.length, b: b.length, size: 0 }]) {
    const removed = aAt < block.a;
    const added = bAt < block.b;
    if (removed || added) {
      const tag = removed && added ? 'replace' : removed ? 'delete' : 'insert';
      operations.push({ tag, aStart: aAt, aEnd: block.a, bStart: bAt, bEnd: block.b });
    }
    aAt = block.a + block.size;
    bAt = block.b + block.size;
    if (block.size > 0) operations.push({ tag: 'equal', aStart: block.a, aEnd: aAt, bStart: block.b, bEnd: bAt });
  }
  return operations;
}

/** The longest match first, then what lies left and right of it, until nothing matches. Adjacent blocks are joined. */
function matchingBlocks(a: readonly string[], b: readonly string[]): Block[] {
  const found: Block[] = [];
  const whole = compared(a, b, found);
  const places = placesOf(b, whole);
  const budget = { left: MAX_COMPARED };
  const waiting = [whole];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const { aLow, aHigh, bLow, bHigh } = part;
    const match = longestMatch({ a, b, places, part, budget });
    if (match.size === 0) continue;
    if (aLow < match.a && bLow < match.b) waiting.push({ aLow, aHigh: match.a, bLow, bHigh: match.b });
    found.push(match);
    const aNext = match.a + match.size;
    const bNext = match.b + match.size;
    if (aNext < aHigh && bNext < bHigh) waiting.push({ aLow: aNext, aHigh, bLow: bNext, bHigh });
  }
  found.sort((left, right) => left.a - right.a);
  const joined: Block[] = [];
  for (const block of found) {
    const previous = joined[joined.length - 1];
    if (previous && previous.a + previous.size === block.a && previous.b + previous.size === block.b)
      joined[joined.length - 1] = { ...previous, size: previous.size + block.size };
    else joined.push(block);
  }
  return joined;
}

/** All of two texts; of long ones only a part, and what lies around it in common is found. */
function compared(a: readonly string[], b: readonly string[], found: Block[]): Part {
  const shorter = Math.min(a.length, b.length);
  if (Math.max(a.length, b.length) <= LONG_LINES) return { aLow: 0, aHigh: a.length, bLow: 0, bHigh: b.length };
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  if (start > 0) found.push({ a: 0, b: 0, size: start });
  if (end > 0) found.push({ a: a.length - end, b: b.length - end, size: end });
  const most = start + LONG_LINES;
  return { aLow: start, aHigh: Math.min(most, a.length - end), bLow: start, bHigh: Math.min(most, b.length - end) };
}

function placesOf(b: readonly string[], { bLow, bHigh }: Part): Map<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (let at = bLow; at < bHigh; at++) {
    const line = b[at] as string;
    const known = places.get(line);
    if (known === undefined) places.set(line, [at]);
    else known.push(at);
  }
  const count = bHigh - bLow;
  if (count >= POPULAR_FROM_LINES) {
    const limit = Math.floor(count / 100) + 1;
    for (const [line, at] of places) if (at.length > limit) places.delete(line);
  }
  return places;
}

interface MatchSearch {
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly places: ReadonlyMap<string, readonly number[]>;
  readonly part: Part;
  readonly budget: { left: number };
}

function longestMatch({ a, b, places, part: { aLow, aHigh, bLow, bHigh }, budget }: MatchSearch): Block {
  let bestA = aLow;
  let bestB = bLow;
  let size = 0;
  let lengths = new Map<number, number>();
  for (let i = aLow; i < aHigh; i++) {
    const next = new Map<number, number>();
    if (--budget.left < 0) break;
    const candidates = places.get(a[i] as string) ?? [];
    for (let at = firstFrom(candidates, bLow); at < candidates.length && --budget.left >= 0; at++) {
      const j = candidates[at] as number;
      if (j >= bHigh) break;
      const length = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, length);
      if (length > size) {
        bestA = i - length + 1;
        bestB = j - length + 1;
        size = length;
      }
    }
    lengths = next;
  }
  // Popular lines do not start a match, but they extend one on both sides.
  while (bestA > aLow && bestB > bLow && a[bestA - 1] === b[bestB - 1]) {
    bestA--;
    bestB--;
    size++;
  }
  while (bestA + size < aHigh && bestB + size < bHigh && a[bestA + size] === b[bestB + size]) size++;
  return { a: bestA, b: bestB, size };
}

/** The position of the first place that is not before `low`, in ascending places. */
function firstFrom(places: readonly number[], low: number): number {
  let first = 0;
  for (let end = places.length; first < end;) {
    const middle = (first + end) >> 1;
    if ((places[middle] as number) < low) first = middle + 1;
    else end = middle;
  }
  return first;
}
