// Files that hold room on the disk: the reserve, which is given up piece by piece for what must go on a full disk and is made
// whole when there is room again, and the engine's lock file.
import { randomFill } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const RESERVE_FILE = 'reserve';
const RESERVE_BYTES = 4 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
/** What a start needs, for the engine's lock file and the socket. */
const START_BYTES = 16 * 1024;
export const ENGINE_LOCK_FILE = 'store.mdb-lock';
/** The engine's has some 8,272 bytes. */
const LOCK_FILE_BYTES = 12 * 1024;
/** `stat` counts in these. */
const BLOCK_BYTES = 512;

export type FreeBytes = (folder: string) => number;

/** Bytes that an unprivileged user may still write; Infinity where the file system does not say. */
export function diskFreeBytes(folder: string): number {
  try {
    const { bavail, bsize } = fs.statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}

/** Whether a store can be opened; on a full disk this frees a piece of the reserve. */
export function makeRoomToStart(folder: string, freeBytes: FreeBytes): boolean {
  if (freeBytes(folder) >= START_BYTES) return true;
  return givePiece(folder) || allocatedBytes(path.join(folder, ENGINE_LOCK_FILE)) >= LOCK_FILE_BYTES;
}

/**
 * The engine maps its lock file and writes to it as readers come; where there is no room for that the process ends without a
 * word. So it gets its room before. Nobody else has it open.
 */
export function fillLockFile(folder: string): void {
  const file = path.join(folder, ENGINE_LOCK_FILE);
  if (allocatedBytes(file) >= LOCK_FILE_BYTES) return;
  fs.writeFileSync(file, Buffer.alloc(LOCK_FILE_BYTES), { flag: 'r+' });
}

/** The room on the disk that a file has. */
function allocatedBytes(file: string): number {
  return (fs.statSync(file, { throwIfNoEntry: false })?.blocks ?? 0) * BLOCK_BYTES;
}

/** Frees a piece of the reserve; false when there is none left. */
export function givePiece(folder: string): boolean {
  const file = path.join(folder, RESERVE_FILE);
  const size = sizeOf(file);
  if (size === 0) return false;
  fs.truncateSync(file, Math.max(0, size - PIECE_BYTES));
  return true;
}

const sizeOf = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Makes the reserve whole, where that leaves `marginBytes` free. */
export async function refillReserve(folder: string, freeBytes: FreeBytes, marginBytes: number): Promise<void> {
  const file = path.join(folder, RESERVE_FILE);
  const missing = RESERVE_BYTES - sizeOf(file);
  if (missing <= 0 || freeBytes(folder) < missing + marginBytes) return;
  await appendNoise(file, missing);
}

/** Zeros would occupy no space on a file system that compresses. */
async function appendNoise(file: string, bytes: number): Promise<void> {
  const noise = Buffer.allocUnsafe(bytes);
  await new Promise<void>((resolve, reject) => {
    randomFill(noise, (error) => (error === null ? resolve() : reject(error)));
  });
  await fs.promises.appendFile(file, noise, { mode: 0o600 });
}
