// A copy of a store that is in use. The engine writes it from one snapshot, without free pages; copying the file itself would
// mix pages of many commits.
import fs from 'node:fs';
import path from 'node:path';
import type { RootDatabase } from 'lmdb';
import { goFileError } from '../../lib/go/file-error.js';
import { KvError } from '../kv.js';
import { engineText } from './damage.js';
import { STORE_FILE, writeFormat } from './folder.js';
import { makePrivate, makePrivateFolder } from './private-folder.js';

/** `folder` must be empty, or not be there. Until the copy is whole no server starts with it. */
export async function backUp(env: RootDatabase, folder: string): Promise<void> {
  const file = path.join(folder, STORE_FILE);
  try {
    makePrivateFolder(folder);
    if (fs.readdirSync(folder).length > 0)
      throw new KvError('unavailable', `cannot copy to ${folder}: it is not empty`);
    await env.backup(file, true);
    makePrivate(file);
    syncFile(file);
    writeFormat(folder);
  } catch (error) {
    if (error instanceof KvError) throw error;
    const { syscall, path: at = folder } = error as NodeJS.ErrnoException;
    const why = syscall === undefined ? engineText(error) : goFileError(error, at);
    throw new KvError('unavailable', `cannot copy to ${folder}: ${why}`, { cause: error });
  }
}

function syncFile(file: string): void {
  const fd = fs.openSync(file, 'r+');
  fs.fsyncSync(fd);
  fs.closeSync(fd);
}
