import fs from 'node:fs';
import path from 'node:path';
import { goFileError } from '../go/file-error.js';

/**
 * Makes a folder and those above it that are missing, for the owner alone. The platform's own recursive way never
 * returns where a folder that is there refuses new ones with "no such file or directory", as /proc does.
 */
export function makeFolder(folder: string): void {
  if (isFolder(folder)) return;
  const above = path.dirname(folder);
  if (above !== folder) makeFolder(above);
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(folder)) throw error;
  }
}

/** What went wrong with a file that was to be made with its folders, in the words the platform's users know. */
export function madeFileError(error: unknown, file: string): string {
  const { code = '', syscall, path: at = file } = error as NodeJS.ErrnoException;
  const noFolder = code === 'ENOTDIR' || (code === 'EEXIST' && syscall === 'mkdir') ? fileAmong(file) : undefined;
  return noFolder === undefined ? goFileError(error, at) : `mkdir ${noFolder}: not a directory`;
}

/** The file that stands where a folder is wanted. */
function fileAmong(file: string): string | undefined {
  for (let at = path.dirname(file); at !== path.dirname(at); at = path.dirname(at)) {
    try {
      if (!fs.statSync(at).isDirectory()) return at;
    } catch {
      // Below the file, nothing is there.
    }
  }
  return undefined;
}

const isFolder = (name: string): boolean => fs.statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? false;
