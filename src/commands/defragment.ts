import path from 'node:path';
import { askHolder } from '../kv/embedded/folder-lock.js';
import { defaultDataDir } from '../options/complete-options.js';
import { defineTopic } from '../options/flag-table.js';
import { type Command, CommandFailure, EXIT } from './command.js';
import { DATA_DIR_FLAG } from './data-dir-flag.js';
import { failuresInWords } from './failures-in-words.js';
import { readArguments } from './read-flags.js';

const topic = defineTopic({ key: 'defragment', title: 'defragment', flags: { 'data-dir': DATA_DIR_FLAG } });

export const defragment: Command = {
  name: 'defragment',
  summary: "makes the embedded store's file as small as what it holds, also while a server runs",
  usage: ['defragment [--data-dir=DIR]'],
  about: `Gives back to the disk what is free in the file of a data folder, after many objects were deleted or changed. A server that
runs in the folder does it itself and goes on serving; this program must run as its user, or as root. It needs room on the disk for a
second copy of what is stored.`,
  topics: [topic],
  words: [],
  async run(args, { env, print }) {
    const { values } = readArguments([topic], args, 0);
    const { dataDir } = values.defragment;
    const folder = path.resolve(dataDir === '' ? defaultDataDir(env) : dataDir);
    return failuresInWords(async () => {
      const { before, after } = (await byServer(folder)) ?? (await byThisProcess(folder));
      print(`${folder}: ${before} bytes before, ${after} bytes now\n`);
      return EXIT.done;
    });
  },
};

interface Sizes {
  readonly before: number;
  readonly after: number;
}

/** Undefined where none runs. */
async function byServer(folder: string): Promise<Sizes | undefined> {
  const { DEFRAGMENT_LINE } = await import('../kv/embedded/defragment.js');
  const answer = await askHolder(folder, DEFRAGMENT_LINE);
  if (answer === undefined) return undefined;
  const [word, before, after] = answer.split(' ');
  if (word === DEFRAGMENT_LINE) return { before: Number(before), after: Number(after) };
  throw new CommandFailure(answer === '' ? 'the server ended before it was done' : `the server answered: ${answer}`);
}

async function byThisProcess(folder: string): Promise<Sizes> {
  const [{ openEmbeddedStore }, { refuseMissingStore }] = await Promise.all([
    import('../kv/embedded/embedded.js'),
    import('../kv/embedded/folder.js'),
  ]);
  refuseMissingStore(folder);
  const store = await openEmbeddedStore({ folder, historyMs: 0 });
  try {
    const { beforeBytes, afterBytes } = await store.mvcc.defragment();
    return { before: beforeBytes, after: afterBytes };
  } finally {
    await store.close();
  }
}
