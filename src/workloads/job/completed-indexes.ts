// The indexes of an indexed job that are done, as its status writes them: `1,3-5,7`.

export function parseIndexes(text: string | undefined): Set<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? '').split(',').filter((one) => one !== '')) {
    const [first = 0, last = first] = part.split('-').map(Number);
    for (let index = first; index <= last; index++) indexes.add(index);
  }
  return indexes;
}

/** Two neighbours stand beside each other, three and more are a range. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const index of sorted) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges.map(rangeText).join(',');
}

function rangeText([first, last]: readonly [number, number]): string {
  if (first === last) return String(first);
  return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
}
