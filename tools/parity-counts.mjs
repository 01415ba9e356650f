// What the ratchets share: counts that may rise and not fall.
import fs from 'node:fs';
import path from 'node:path';
import { recordSecondTries } from './second-tries.mjs';

export function optionOf(args, name) {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
}

/** The values of an option that may be there several times. */
export const optionsOf = (args, name) => args.filter((_, i) => args[i - 1] === name);

/** The named options with their values, as they were passed. */
export const passedOf = (args, names) => args.filter((arg, i) => names.includes(arg) || names.includes(args[i - 1]));

/**
 * The counts to hold; with `--only TEXT` those with it in their names. What several worker processes answer otherwise by
 * design stands in a file beside them.
 */
export function baselineOf(file, args) {
  const withWorkers = file.replace(/\.json$/, '-workers.json');
  const read = (name) => JSON.parse(fs.readFileSync(name, 'utf8'));
  const isOther = optionOf(args, '--workers') !== undefined && fs.existsSync(withWorkers);
  const counts = { ...read(file), ...(isOther && read(withWorkers)) };
  const only = optionOf(args, '--only') ?? '';
  return Object.fromEntries(Object.entries(counts).filter(([name]) => name.includes(only)));
}

/**
 * The server's program, with `--workers N` one that starts it with that flag, and with `more`, a piece of a shell's command
 * line; `folder` is where it is written.
 */
export function programOf(args, folder, more = '') {
  const workers = optionOf(args, '--workers');
  const program = path.resolve('bin/binnacle');
  if (workers === undefined) return program;
  const file = path.join(folder, 'binnacle');
  fs.writeFileSync(file, `#!/bin/sh\nexec ${program} "$@" --workers=${Number(workers)} ${more}\n`, { mode: 0o755 });
  return file;
}

/**
 * The exit code: 1 with a ratchet when a count fell, or what fell at first had done so before. `tried` names
 * what was short at first; those that rose on another try are recorded.
 */
export function compareCounts(file, counts, args, tried = []) {
  if (args.includes('--raise')) {
    const sorted = Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
    fs.writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`);
    return 0;
  }
  if (!args.includes('--ratchet')) return 0;
  const fell = fallen(file, counts, args);
  for (const { name, now, before } of fell) console.error(`${name}: ${now} agree, ${before} did before`);
  console.log(fell.length === 0 ? `${file}: nothing fell` : `${file}: ${fell.length} fell`);
  const rose = tried.filter((name) => !fell.some((one) => one.name === name));
  const again = recordSecondTries(rose.map((name) => `${path.basename(file)} ${name}`));
  const summary = optionOf(args, '--summary');
  if (summary !== undefined) {
    const passed = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const lost = fell.reduce((sum, { before, now }) => sum + before - now, 0);
    fs.writeFileSync(summary, JSON.stringify({ passed, failed: lost + again.length }));
  }
  return fell.length === 0 && again.length === 0 ? 0 : 1;
}

export function fallen(file, counts, args) {
  return Object.entries(baselineOf(file, args))
    .map(([name, before]) => ({ name, before, now: counts[name] ?? 0 }))
    .filter(({ before, now }) => now < before);
}
