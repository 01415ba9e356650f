// `binnacle verify`: whether a data folder is as it was written.
import { verifyStore, type StoreReport } from '../../kv/embedded/verify.js';
import { KvError } from '../../kv/kv.js';
import { defaultDataDir } from '../../options/complete-options.js';
import type { CommandParts } from './subcommand.js';

const USAGE = `Reads everything in the data folder of a stopped server and compares it with its checksums. Nothing is changed.

  binnacle verify [DIR]   by default the folder that a server has without --data-dir

The exit code is 0 for a sound store and 1 for a damaged one.
`;

/** Objects that are named; of more only how many. */
const MAX_NAMED = 100;

export async function runVerifyCommand(args: readonly string[], parts: CommandParts): Promise<number> {
  const [folder = defaultDataDir(parts.env), ...others] = args;
  if (others.length > 0 || folder.startsWith('-')) {
    parts.printError(USAGE);
    return folder === '--help' || folder === '-h' ? 0 : 2;
  }
  const counts = new Map<string, number>();
  try {
    const report = await verifyStore(folder, ({ key }) => {
      const resource = resourceOf(key);
      counts.set(resource, (counts.get(resource) ?? 0) + 1);
    });
    return printReport(report, counts, parts);
  } catch (error) {
    if (!(error instanceof KvError)) throw error;
    parts.printError(`error: ${error.message}\n`);
    return 1;
  }
}

function printReport(
  report: StoreReport,
  counts: ReadonlyMap<string, number>,
  { print, printError }: CommandParts,
): number {
  const { revision, keys, changes, damaged, faults, isUnchecked } = report;
  print(`revision ${revision}, ${keys} keys, ${changes} changes of history\n`);
  for (const [resource, count] of counts) print(`${String(count).padStart(9)}  ${resource}\n`);
  for (const { key, revision: at } of damaged.slice(0, MAX_NAMED)) printError(`damaged: ${key} (revision ${at})\n`);
  if (damaged.length > MAX_NAMED) printError(`damaged: ${damaged.length - MAX_NAMED} more\n`);
  for (const fault of faults.slice(0, MAX_NAMED)) printError(`damaged: ${fault}\n`);
  if (damaged.length + faults.length > 0) return 1;
  print(isUnchecked ? 'sound, as far as can be checked: an earlier build wrote it without checksums\n' : 'sound\n');
  return 0;
}

/** `/registry/pods/default/web` is one of `/registry/pods`, `/registry/apps.test/things/x` of `/registry/apps.test/things`. */
function resourceOf(key: string): string {
  const [, root = '', first = '', second = ''] = key.split('/');
  if (first === '') return key;
  return first.includes('.') && second !== '' ? `/${root}/${first}/${second}` : `/${root}/${first}`;
}
