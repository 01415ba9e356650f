import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Snapshot } from '../kv/snapshot.js';
import { defaultDataDir } from '../options/complete-options.js';
import { defineTopic } from '../options/flag-table.js';
import { CommandLineMistake } from '../options/parse-flags.js';
import { type Command, CommandFailure, type CommandParts, EXIT } from './command.js';
import { DATA_DIR_FLAG } from './data-dir-flag.js';
import { failuresInWords } from './failures-in-words.js';
import { readArguments } from './read-flags.js';
import { progressBar } from './terminal.js';

const STANDARD_OUTPUT = '-';

const topic = defineTopic({ key: 'backup', title: 'backup', flags: { 'data-dir': DATA_DIR_FLAG } });

export const backup: Command = {
  name: 'backup',
  summary: 'writes what a data folder stores to a file, also while a server runs',
  usage: ['backup FILE [--data-dir=DIR]   FILE may be - for standard output'],
  about: `Writes every stored object, as of one revision, to a new file with a checksum. A server that runs in the data folder
goes on meanwhile; this program reads beside it, and so must run as its user, or as root. Encrypted values stay encrypted:
keep their keys, and the folder pki, elsewhere. \`binnacle restore\` makes a data folder of it, \`binnacle verify\` checks it.`,
  topics: [topic],
  words: [],
  async run(args, parts) {
    const { positional, values } = readArguments([topic], args, 1);
    const [file] = positional;
    if (file === undefined || file === '')
      throw new CommandLineMistake('name the file to write, or - for standard output');
    const { dataDir } = values.backup;
    const folder = path.resolve(dataDir === '' ? defaultDataDir(parts.env) : dataDir);
    return failuresInWords(() => backUp(folder, file, parts));
  },
};

async function backUp(folder: string, file: string, parts: CommandParts): Promise<number> {
  if (file !== STANDARD_OUTPUT && fs.existsSync(file)) throw new CommandFailure(`${file} exists already`);
  const { openFolderSnapshot } = await import('../kv/embedded/folder-snapshot.js');
  const snapshot = await openFolderSnapshot(folder);
  try {
    const { sha256, bytes } = await (file === STANDARD_OUTPUT
      ? writeTo(process.stdout, snapshot, parts)
      : writeFile(file, snapshot, parts));
    const report = `revision ${snapshot.revision}, ${snapshot.keys} keys, ${bytes} bytes\nSHA-256 ${sha256}\n`;
    if (file === STANDARD_OUTPUT) parts.printError(report);
    else parts.print(report);
    return EXIT.done;
  } finally {
    await snapshot.close();
  }
}

interface WrittenFile {
  readonly bytes: number;
  /** Of the file itself. */
  readonly sha256: string;
}

/** The file has its name only when it is whole and on disk. */
async function writeFile(file: string, snapshot: Snapshot, parts: CommandParts): Promise<WrittenFile> {
  const partial = `${file}.partial`;
  try {
    const written = await writeTo(fs.createWriteStream(partial, { mode: 0o600 }), snapshot, parts);
    await sync(partial);
    await fs.promises.rename(partial, file);
    await sync(path.dirname(file));
    return written;
  } catch (error) {
    await fs.promises.rm(partial, { force: true });
    throw error;
  }
}

async function writeTo(out: Writable, snapshot: Snapshot, parts: CommandParts): Promise<WrittenFile> {
  const { backupBytes, compressor } = await import('../kv/backup-file.js');
  const bar = progressBar('Backing up', snapshot.keys, parts);
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  try {
    const content = Readable.from(backupBytes(snapshot, (keys) => bar.at(keys)));
    await pipeline(content, compressor(), counted, out, { end: out !== process.stdout });
  } finally {
    bar.clear();
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** A file, or the names in a folder. */
async function sync(file: string): Promise<void> {
  const handle = await fs.promises.open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
