// What the ratchets share: counts that may rise and not fall.
import fs from 'node:fs';

export function optionOf(args, name) {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
}

/** The named options with their values, as they were given. */
export const passedOf = (args, names) => args.filter((arg, i) => names.includes(arg) || names.includes(args[i - 1]));

/** The exit code: 1 when a ratchet was asked for and a count fell. */
export function compareCounts(file, counts, args) {
  if (args.includes('--raise')) {
    const sorted = Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
    fs.writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`);
    return 0;
  }
  if (!args.includes('--ratchet')) return 0;
  const fell = fallen(file, counts);
  for (const { name, now, before } of fell) console.error(`${name}: ${now} agree, ${before} did before`);
  console.log(fell.length === 0 ? `${file}: nothing fell` : `${file}: ${fell.length} fell`);
  return fell.length === 0 ? 0 : 1;
}

export function fallen(file, counts) {
  return Object.entries(JSON.parse(fs.readFileSync(file, 'utf8')))
    .map(([name, before]) => ({ name, before, now: counts[name] ?? 0 }))
    .filter(({ before, now }) => now < before);
}
