// The data folder: its lock, its format, and looking the store's file over before the engine maps it.
//
//   FORMAT       "binnacle-store 4"; 1 where no value is compressed yet, 2 where records have no checksums, 3 where a revision
//                is one change, and versions and leases are not written: this build goes on with all as 4
//   store.mdb    the data; store.mdb-lock belongs to the engine
//   reserve      room that is kept for deletes on a full disk
//   lock         a socket that the process which has the folder open listens on
//   defragment   a copy that is to be the store (defragment.ts); without a process it means nothing
//   incoming     a store that is being restored or migrated (new-store.ts); without FORMAT beside it, it never was whole
import fs from 'node:fs';
import path from 'node:path';
import { errorText } from '../../lib/text/error-text.js';
import { goFileError } from '../../lib/go/file-error.js';
import { engineText } from './damage.js';
import { checkPages, type KeysFound } from './check-pages.js';
import { fillHoles } from './fill-holes.js';
import { type AnswerLine, lockFolder } from './folder-lock.js';
import { KvError } from '../kv.js';
import { endOfPages, MIN_PAGE, newestMeta } from './meta-page.js';
import { makePrivateFile, makePrivateFolder } from './private-folder.js';
import { syncFolder } from './sync.js';
import { ENGINE_LOCK_FILE, fillLockFile, type FreeBytes, makeRoomToStart } from './reserve.js';

const FORMAT = 4;
/** The first whose values may be compressed. */
const COMPRESSED_FORMAT = 2;
export const FORMAT_FILE = 'FORMAT';
export const STORE_FILE = 'store.mdb';
export const INCOMING_FOLDER = 'incoming';
export const DEFRAGMENT_FOLDER = 'defragment';

export interface DataFolder {
  readonly path: string;
  readonly storePath: string;
  /** Whether values may be compressed already. */
  readonly isCompressed: boolean;
  /** The keys that the table `current` has; absent for a new or a very large file. */
  readonly keys: KeysFound | undefined;
  /** Call once the first commit is on disk, and before a value is written that an earlier format does not have. */
  markFormat(): void;
  /** How the process answers what others ask it for at the folder's lock. */
  answer(lines: AnswerLine): void;
  release(): Promise<void>;
}

/** Fails where the folder has no store that was completed once. */
export function refuseMissingStore(folder: string): void {
  if (!fs.existsSync(path.join(folder, FORMAT_FILE))) {
    throw new KvError('unavailable', `there is no store in ${folder}`);
  }
}

/** `maxPages`: of a file with more, the leaves are not looked at. */
export async function openFolder(folder: string, freeBytes: FreeBytes, maxPages?: number): Promise<DataFolder> {
  makePrivateFolder(folder);
  if (!makeRoomToStart(folder, freeBytes)) throw diskFull(folder);
  const lock = await lockFolder(folder);
  try {
    fs.rmSync(path.join(folder, DEFRAGMENT_FOLDER), { recursive: true, force: true });
    const format = readFormat(folder);
    if (format === 0 && fs.existsSync(path.join(folder, INCOMING_FOLDER))) throw unfinished(folder);
    const storePath = path.join(folder, STORE_FILE);
    const keys = checkStoreFile(storePath, format > 0, maxPages);
    // The engine keeps the permissions of existing files; files that it makes itself would be readable by everybody.
    for (const file of [STORE_FILE, ENGINE_LOCK_FILE]) makePrivateFile(folder, file);
    fillLockFile(folder);
    const markFormat = (): void => (format === FORMAT ? undefined : writeFormat(folder));
    return {
      path: folder,
      storePath,
      isCompressed: format >= COMPRESSED_FORMAT,
      keys,
      markFormat,
      answer: (lines) => lock.answer(lines),
      release: () => lock.release(),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** A folder that another process has open, for reading beside it. */
export function openHeldFolder(folder: string): DataFolder {
  const isCompressed = readFormat(folder) >= COMPRESSED_FORMAT;
  const storePath = path.join(folder, STORE_FILE);
  return {
    path: folder,
    storePath,
    isCompressed,
    keys: undefined,
    markFormat: () => undefined,
    answer: () => undefined,
    release: async () => undefined,
  };
}

/** A server that started here would find nothing, and begin anew. */
const unfinished = (folder: string): KvError =>
  new KvError(
    'unavailable',
    `a restore or migration into ${folder} was not finished: run it again, or remove ${path.join(folder, INCOMING_FOLDER)} to start empty`,
  );

/** 0 when the folder holds no store that was completed once. */
function readFormat(folder: string): number {
  let text: string;
  try {
    text = fs.readFileSync(path.join(folder, FORMAT_FILE), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0;
    throw error;
  }
  const match = /^binnacle-store (\d+)\n?$/.exec(text);
  if (match === null) {
    throw damaged(folder, `its ${FORMAT_FILE} file is not one of this program's`);
  }
  const format = Number(match[1]);
  if (format > FORMAT) {
    throw new KvError(
      'newer-format',
      `the data folder ${folder} has format ${format}, written by a newer version; this one reads up to format ` +
        `${FORMAT}. Start the newer version, or restore a backup made before the upgrade. Nothing was changed`,
    );
  }
  return format;
}

/** Says that a store is whole, and of which format. */
export function writeFormat(folder: string): void {
  const file = path.join(folder, FORMAT_FILE);
  const fd = fs.openSync(`${file}.new`, 'w', 0o600);
  fs.writeSync(fd, `binnacle-store ${FORMAT}\n`);
  fs.fsyncSync(fd);
  fs.closeSync(fd);
  fs.renameSync(`${file}.new`, file);
  syncFolder(folder);
}

/**
 * The engine maps the file and trusts it: one that is not its own, or was cut short, would end the process without
 * a word. So the two meta pages are read first: their magic, that the file is as long as the newest says, and that the
 * pages of its trees are theirs.
 */
function checkStoreFile(storePath: string, created: boolean, maxPages: number | undefined): KeysFound | undefined {
  const size = fs.existsSync(storePath) ? fs.statSync(storePath).size : 0;
  if (size < 2 * MIN_PAGE) {
    if (created) throw damaged(path.dirname(storePath), `its file ${STORE_FILE} is missing or cut short`);
    // Creating it was interrupted before anything was answered.
    fs.rmSync(storePath, { force: true });
    return undefined;
  }
  const fd = fs.openSync(storePath, 'r');
  try {
    const newest = newestMeta(fd);
    if (newest === undefined) {
      throw damaged(path.dirname(storePath), `its file ${STORE_FILE} does not begin as a store does`);
    }
    const wholeSize = endOfPages(newest);
    const isShort = wholeSize > size;
    const { damage, trees } = checkPages(fd, newest, isShort ? Infinity : maxPages);
    if (damage !== undefined) {
      const what = isShort ? 'was cut short' : `is damaged: ${damage}`;
      throw damaged(path.dirname(storePath), `its file ${STORE_FILE} ${what}`);
    }
    // Only pages that are not in use are missing, as after a commit that a full disk broke off. Reading one must not end the process.
    if (isShort) fs.truncateSync(storePath, wholeSize);
    fillHoles(storePath);
    return trees.get('current');
  } finally {
    fs.closeSync(fd);
  }
}

/** Why a folder could not be opened, and what to do: only the engine's own complaint means that the data are damaged. */
export function openFailure(folder: string, error: unknown): KvError {
  if (error instanceof KvError) return error;
  const why = errorText(error);
  if (/ENOSPC|EDQUOT|no space left|quota/i.test(why)) return diskFull(folder, error);
  const { syscall, path: file = folder } = error as NodeJS.ErrnoException;
  if (syscall !== undefined || /permission denied|read-only|not permitted/i.test(why)) {
    const text = syscall === undefined ? why : goFileError(error, file);
    return new KvError(
      'unavailable',
      `cannot use the data folder ${folder}: ${text}; name one that can be written to`,
      {
        cause: error,
      },
    );
  }
  return damaged(folder, engineText(error));
}

export const diskFull = (folder: string, cause?: unknown): KvError =>
  new KvError(
    'disk-full',
    `no space left to write to ${folder}; free some space there. Nothing was changed, nothing was lost`,
    { cause },
  );

/** Of a write; in etcd's words, which clients know. */
export const spaceExceeded = (cause?: unknown): KvError =>
  new KvError('disk-full', 'etcdserver: mvcc: database space exceeded', { cause });

export const damaged = (folder: string, why: string): KvError =>
  new KvError(
    'damaged',
    `the data folder ${folder} cannot be read: ${why}. Nothing was changed; restore the folder from a backup, or move ` +
      'it away to start empty',
  );
