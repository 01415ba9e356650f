// The Range header: which bytes of a file are wanted.
export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

export const contentRange = ({ start, length }: ByteRange, size: number): string =>
  `bytes ${start}-${start + length - 1}/${size}`;

/** None for all of the file: no range was requested, or one that is longer than the file. */
export function readRanges(header: string, size: number): readonly ByteRange[] | 'invalid' | 'no overlap' {
  if (header === '') return [];
  if (!header.startsWith('bytes=')) return 'invalid';
  const ranges: ByteRange[] = [];
  let beyond = false;
  for (const text of header.slice('bytes='.length).split(',')) {
    if (text.trim() === '') continue;
    const range = readRange(text.trim(), size);
    if (range === 'invalid') return 'invalid';
    if (range === 'beyond') beyond = true;
    else ranges.push(range);
  }
  // Of an empty file every range is the whole file, which Go serves with 200.
  if (beyond && ranges.length === 0) return size === 0 ? [] : 'no overlap';
  const wanted = ranges.reduce((sum, { length }) => sum + length, 0);
  return wanted > size ? [] : ranges;
}

function readRange(text: string, size: number): ByteRange | 'invalid' | 'beyond' {
  const dash = text.indexOf('-');
  if (dash < 0) return 'invalid';
  const [first, last] = [text.slice(0, dash).trim(), text.slice(dash + 1).trim()];
  if (first === '') {
    const suffix = readNumber(last);
    if (suffix === undefined) return 'invalid';
    const length = Math.min(suffix, size);
    return { start: size - length, length };
  }
  const start = readNumber(first);
  if (start === undefined) return 'invalid';
  if (start >= size) return 'beyond';
  if (last === '') return { start, length: size - start };
  const end = readNumber(last);
  if (end === undefined || start > end) return 'invalid';
  return { start, length: Math.min(end, size - 1) - start + 1 };
}

const MOST = 2 ** 63;

function readNumber(text: string): number | undefined {
  if (!/^\+?[0-9]+$/.test(text)) return undefined;
  const number = Number(text);
  return number < MOST ? number : undefined;
}
