// Who may read the data folder: its owner only. It has secrets, in the store's file and in the keys beside it.
import fs from 'node:fs';
import path from 'node:path';
import { makeFolder } from '../../lib/files/make-folder.js';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
const FOR_OTHERS = 0o077;
const STICKY = 0o1000;

/** What a server puts into its data folder, and what the root of a file system has of its own. */
const OWN_NAMES =
  /^(?:FORMAT(?:\.new)?|lock(?:\.\d+)?|store\.mdb(?:-lock)?|reserve|incoming|defragment|pki|admin\.kubeconfig|lost\+found)$/;

/**
 * Makes the folder, or removes other users' permissions from an existing one. A folder that also holds files other than
 * a server's (a home directory) keeps its permissions: the server's files in it are private in any case.
 */
export function makePrivateFolder(folder: string): void {
  makeFolder(folder);
  const { mode } = fs.statSync(folder);
  if ((mode & FOR_OTHERS) === 0 || (mode & STICKY) !== 0) return;
  if (!fs.readdirSync(folder).every((name) => OWN_NAMES.test(name))) return;
  changeMode(folder, PRIVATE_FOLDER);
}

/** Makes an empty file, or removes other users' permissions from an existing one. */
export function makePrivateFile(folder: string, name: string): void {
  const file = path.join(folder, name);
  fs.closeSync(fs.openSync(file, 'a', PRIVATE_FILE));
  makePrivate(file);
}

/** Of a file or socket. */
export function makePrivate(file: string): void {
  if ((fs.statSync(file).mode & FOR_OTHERS) !== 0) changeMode(file, PRIVATE_FILE);
}

/** Only the owner may do this; somebody else's folder (a volume that is mounted) can still be used. */
function changeMode(file: string, mode: number): void {
  try {
    fs.chmodSync(file, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EPERM' && code !== 'EROFS' && code !== 'ENOTSUP') throw error;
  }
}
