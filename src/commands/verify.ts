import fs from 'node:fs';
import type { StoreReport } from '../kv/embedded/verify.js';
import type { KeyValue } from '../kv/kv.js';
import { errorText } from '../lib/text/error-text.js';
import { defaultDataDir } from '../options/complete-options.js';
import { type Command, type CommandParts, EXIT } from './command.js';
import { failuresInWords } from './failures-in-words.js';
import { readArguments } from './read-flags.js';
import { ResourceCounts } from './resource-counts.js';

/** Objects that are named; of more only how many. */
const MAX_NAMED = 100;

export const verify: Command = {
  name: 'verify',
  summary: 'checks a backup, or the data folder of a stopped server',
  usage: ['verify [FILE|DIR]   by default the folder that a server has without --data-dir'],
  about: `Reads everything in a backup or in the data folder of a stopped server, compares it with its checksums, and decodes
every object that is not encrypted. Nothing is changed.

The exit code is 0 where all is sound and 1 where it is not.`,
  topics: [],
  words: [],
  async run(args, parts) {
    const at = readArguments([], args, 1).positional[0] ?? defaultDataDir(parts.env);
    const isFile = fs.statSync(at, { throwIfNoEntry: false })?.isFile() === true;
    return failuresInWords(() => (isFile ? verifyFile(at, parts) : verifyFolder(at, parts)));
  },
};

async function verifyFile(file: string, parts: CommandParts): Promise<number> {
  const { openBackup } = await import('../kv/backup-file.js');
  const look = await Look.begin();
  const snapshot = await openBackup(fs.createReadStream(file), file);
  try {
    for await (const page of snapshot.pages()) for (const kv of page) look.at(kv);
    parts.print(`backup of revision ${snapshot.revision}, ${snapshot.keys} keys\n`);
    return look.print([], 'sound\n', parts);
  } finally {
    await snapshot.close();
  }
}

async function verifyFolder(folder: string, parts: CommandParts): Promise<number> {
  const { verifyStore } = await import('../kv/embedded/verify.js');
  const look = await Look.begin();
  const report = await verifyStore(folder, (kv) => look.at(kv));
  parts.print(`revision ${report.revision}, ${report.keys} keys, ${report.changes} changes of history\n`);
  const verdict = report.isUnchecked
    ? 'sound, as far as can be checked: an earlier build wrote it without checksums\n'
    : 'sound\n';
  return look.print(damageOf(report), verdict, parts);
}

const damageOf = ({ damaged, faults }: StoreReport): string[] => [
  ...damaged.map(({ key, revision }) => `${key} (revision ${revision})`),
  ...faults,
];

/** What is found in values. */
class Look {
  readonly #counts = new ResourceCounts();
  readonly #undecoded: string[] = [];
  #encrypted = 0;

  private constructor(private readonly read: typeof import('../server/storage/stored-value.js').readStoredValue) {}

  static async begin(): Promise<Look> {
    return new Look((await import('../server/storage/stored-value.js')).readStoredValue);
  }

  at({ key, value, modRevision }: KeyValue): void {
    this.#counts.add(key);
    // Beside objects there is the note by which compactions are agreed.
    if (!key.startsWith('/')) return;
    try {
      if (this.read(value) === undefined) this.#encrypted++;
    } catch (error) {
      this.#undecoded.push(`${key} (revision ${modRevision}): ${errorText(error)}`);
    }
  }

  /** Answers the exit code. */
  print(damaged: readonly string[], verdict: string, { print, printError }: CommandParts): number {
    print(this.#counts.text());
    if (this.#encrypted > 0) print(`${this.#encrypted} values are encrypted, and were not decoded\n`);
    for (const [what, all] of [['damaged', damaged] as const, ['cannot be decoded', this.#undecoded] as const]) {
      for (const one of all.slice(0, MAX_NAMED)) printError(`${what}: ${one}\n`);
      if (all.length > MAX_NAMED) printError(`${what}: ${all.length - MAX_NAMED} more\n`);
    }
    if (damaged.length + this.#undecoded.length > 0) return EXIT.failed;
    print(verdict);
    return EXIT.done;
  }
}
