// Which flag somebody meant who mistyped one.
import type { Topic } from './flag-table.js';

/** Beyond this nobody mistypes a flag. */
const LONGEST = 100;

/** The flag with the fewest letters to change, if that is few enough to be a mistake of typing. */
export function closestFlag(written: string, topics: readonly Topic[]): string | undefined {
  if (written.length > LONGEST) return undefined;
  let closest: string | undefined;
  let fewest = Math.max(2, Math.floor(written.length / 4)) + 1;
  for (const { flags } of topics) {
    for (const [name, spec] of Object.entries(flags)) {
      if (spec.hidden === true || Math.abs(name.length - written.length) >= fewest) continue;
      const changes = distance(written, name);
      if (changes < fewest) [closest, fewest] = [name, changes];
    }
  }
  return closest;
}

/** Letters to add, to take away or to change; neighbours that were swapped count as one. */
function distance(a: string, b: string): number {
  let twoBack: number[] = [];
  let back = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min((back[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (back[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, (twoBack[j - 2] ?? 0) + 1);
      row.push(least);
    }
    [twoBack, back] = [back, row];
  }
  return back[b.length] ?? 0;
}
