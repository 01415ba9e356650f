import fs from 'node:fs';
import path from 'node:path';

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

const isFolder = (name: string): boolean => fs.statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? false;
