import fs from 'node:fs';
import { errorText } from '../text/error-text.js';

const ERRNO_TEXTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'not a directory',
  ELOOP: 'too many levels of symbolic links',
  ENAMETOOLONG: 'file name too long',
  EEXIST: 'file exists',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
  ENOSPC: 'no space left on device',
  EDQUOT: 'disk quota exceeded',
};

/** `open /x: no such file or directory`: a file error in the words the platform's users know. */
export function goFileError(error: unknown, path: string, operation?: string): string {
  const { code = '', syscall = 'open' } = error as NodeJS.ErrnoException;
  return `${operation ?? syscall} ${path}: ${ERRNO_TEXTS[code] ?? errorText(error)}`;
}

export type FileRead = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: string };

export function readTextFile(path: string): FileRead {
  try {
    return { ok: true, text: fs.readFileSync(path, 'utf8') };
  } catch (error) {
    return { ok: false, error: goFileError(error, path) };
  }
}
