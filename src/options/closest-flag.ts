// Which flag or other name somebody meant who mistyped one.
import type { Topic } from './flag-table.js';

/** Beyond this nobody mistypes a name: comparing takes time by the product of both lengths. */
const LONGEST = 100;

/** The flag with the fewest characters to change, if that is few enough to be a mistake of typing. */
export const closestFlag = (written: string, topics: readonly Topic[]): string | undefined =>
  closestName(
    written,
    topics.flatMap(({ flags }) => Object.keys(flags).filter((name) => flags[name]?.hidden !== true)),
  );

/** The closest of any names. */
export function closestName(written: string, names: readonly string[]): string | undefined {
  if (written.length > LONGEST) return undefined;
  let closest: string | undefined;
  let fewest = Math.max(2, Math.floor(written.length / 4)) + 1;
  for (const name of names) {
    if (Math.abs(name.length - written.length) >= fewest) continue;
    const changes = distance(written, name);
    if (changes < fewest) [closest, fewest] = [name, changes];
  }
  return closest;
}

/** Characters to insert, to delete or to change; swapped neighbours count as one. */
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
