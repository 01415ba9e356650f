import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { SnapshotEntry } from '../kv/snapshot.js';
import { defineTopic } from '../options/flag-table.js';
import { CommandLineMistake } from '../options/parse-flags.js';
import { type Command, type CommandParts, EXIT } from './command.js';
import { failuresInWords } from './failures-in-words.js';
import { readArguments } from './read-flags.js';
import { type ProgressBar, progressBar } from './terminal.js';

const STANDARD_INPUT = '-';
/** More than a server writes between a backup and the moment that it is wanted. */
const BUMP_REVISIONS = 1_000_000_000;

const topic = defineTopic({
  key: 'restore',
  title: 'restore',
  flags: {
    'data-dir': { type: 'string', help: 'The data folder to make. It has no store yet.' },
    'bump-revision': {
      type: 'int',
      default: BUMP_REVISIONS,
      help: 'How far the store goes on beyond the revision of the backup, so that no revision that clients have seen since is given out again.',
    },
  },
});

export const restore: Command = {
  name: 'restore',
  summary: 'makes a data folder of a backup',
  usage: ['restore FILE --data-dir=DIR   FILE may be - for standard input'],
  about: `Makes a store in the data folder of what \`binnacle backup\` wrote. Objects keep their resource versions. Lists begin at a
higher one, and watches of before get 410 and list again. The folder must have no store; where it has the folder pki of the
server that was backed up, the credentials of before stay good.

Interrupted, it leaves no store, and can be run again.`,
  topics: [topic],
  words: [],
  async run(args, parts) {
    const { positional, values } = readArguments([topic], args, 1);
    const [file] = positional;
    if (file === undefined || file === '') throw new CommandLineMistake('name the backup, or - for standard input');
    const { dataDir, bumpRevision } = values.restore;
    if (dataDir === '') throw new CommandLineMistake('--data-dir is required: it names the folder to make');
    if (bumpRevision < 0) throw new CommandLineMistake('--bump-revision must not be negative');
    return failuresInWords(() => restoreFile(file, path.resolve(dataDir), bumpRevision, parts));
  },
};

async function restoreFile(file: string, folder: string, bump: number, parts: CommandParts): Promise<number> {
  const { openBackup } = await import('../kv/backup-file.js');
  const { refuseStoreIn, writeNewStore } = await import('../kv/embedded/new-store.js');
  refuseStoreIn(folder);
  const input: Readable = file === STANDARD_INPUT ? process.stdin : fs.createReadStream(file);
  const snapshot = await openBackup(input, file);
  const bar = progressBar('Restoring', snapshot.keys, parts);
  try {
    const revision = snapshot.revision + bump;
    const keys = await writeNewStore({ folder, revision, nowMs: Date.now() }, counted(snapshot.pages(), bar));
    bar.clear();
    parts.print(`${keys} keys of revision ${snapshot.revision} are in ${folder}\n`);
    return EXIT.done;
  } finally {
    bar.clear();
    await snapshot.close();
  }
}

async function* counted(
  pages: AsyncIterable<readonly SnapshotEntry[]>,
  bar: ProgressBar,
): AsyncGenerator<readonly SnapshotEntry[]> {
  let done = 0;
  for await (const page of pages) {
    yield page;
    done += page.length;
    bar.at(done);
  }
}
