// A copy of a store that is in use. The engine writes it from one snapshot, without free pages; copying the file itself would
// mix pages of many commits.
import fs from 'node:fs';
import path from 'node:path';
import { goFileError } from '../../lib/go/file-error.js';
import { KvError } from '../kv.js';
import { engineText } from './damage.js';
import { STORE_FILE, writeFormat } from './folder.js';
import type { MovableTables } from './movable-tables.js';
import { makePrivate, makePrivateFolder } from './private-folder.js';
import { syncFile } from './sync.js';

/** `folder` must be empty, or not be there. Until the copy is whole no server starts with it. */
export async function backUp(tables: MovableTables, folder: string): Promise<void> {
  const file = path.join(folder, STORE_FILE);
  try {
    makePrivateFolder(folder);
    if (fs.readdirSync(folder).length > 0)
      throw new KvError('unavailable', `cannot copy to ${folder}: it is not empty`);
    await copyFile(tables, file);
    writeFormat(folder);
  } catch (error) {
    if (error instanceof KvError) throw error;
    const { syscall, path: at = folder } = error as NodeJS.ErrnoException;
    const why = syscall === undefined ? engineText(error) : goFileError(error, at);
    throw new KvError('unavailable', `cannot copy to ${folder}: ${why}`, { cause: error });
  }
}

/** Private, and on disk. */
export async function copyFile(tables: MovableTables, file: string): Promise<void> {
  const release = tables.hold();
  try {
    await tables.env.backup(file, true);
  } finally {
    release();
  }
  makePrivate(file);
  await syncFile(file);
}
