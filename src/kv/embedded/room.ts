// Room on the disk. Writes that add something are refused before the last of it is gone, as etcd's quota does, so that deletes
// and compaction, which make room, always go:
//
//   free ≥ MARGIN                       everything goes
//   free pages in the file ≥ MARGIN     the same: they are written before the file grows
//   else                                only what makes room, from the reserve
//
// The reserve is a file beside the store's. It shrinks piece by piece, and is refilled when there is room again.
import type { Logger } from '../../lib/telemetry/log.js';
import { randomFill } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { RootDatabase } from 'lmdb';
import type { Tables } from './past.js';

const RESERVE_FILE = 'reserve';
const RESERVE_BYTES = 4 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
/** Left free by writes that add something, beyond their own size. */
const MARGIN_BYTES = 2 * 1024 * 1024;
/** What a start needs, for the engine's lock file and the socket. */
const START_BYTES = 16 * 1024;
export const ENGINE_LOCK_FILE = 'store.mdb-lock';
/** The engine's has some 8,272 bytes. */
const LOCK_FILE_BYTES = 12 * 1024;
/** `stat` counts in these. */
const BLOCK_BYTES = 512;
/** Disk space of a change beside its values: the pages that are copied in each tree. */
const CHANGE_BYTES = 16 * 1024;
/** So long it is believed how much there was; others write to the disk, too. */
const KNOWN_MS = 1_000;
/** So long after a write failed for want of room (a quota of a user's says nothing before) nothing is added. */
const FAILED_MS = 5_000;

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
  return givePiece(folder) || hasBlocks(path.join(folder, ENGINE_LOCK_FILE));
}

/**
 * The engine maps its lock file and writes to it as readers come; where there is no room for that the process ends without a
 * word. So it gets its room before. Nobody else has it open.
 */
export function fillLockFile(folder: string): void {
  const file = path.join(folder, ENGINE_LOCK_FILE);
  if (!hasBlocks(file)) fs.writeFileSync(file, Buffer.alloc(LOCK_FILE_BYTES), { flag: 'r+' });
}

/** The room on the disk is its own already. */
function hasBlocks(file: string): boolean {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  return found !== undefined && found.blocks * BLOCK_BYTES >= LOCK_FILE_BYTES;
}

/** False when there is none left. */
function givePiece(folder: string): boolean {
  const file = path.join(folder, RESERVE_FILE);
  const size = sizeOf(file);
  if (size === 0) return false;
  fs.truncateSync(file, Math.max(0, size - PIECE_BYTES));
  return true;
}

const sizeOf = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;

export interface RoomParts {
  readonly env: RootDatabase;
  readonly tables: Tables;
  readonly folder: string;
  readonly freeBytes: FreeBytes;
  readonly now: () => number;
  readonly log: Logger | undefined;
}

export class Room {
  readonly #parts: RoomParts;
  /** Bytes that may be written before free space is checked again. */
  #left = 0;
  #leftUntilMs = 0;
  #isFull = false;
  #failedUntilMs = 0;
  #making: Promise<void> | undefined;

  constructor(parts: RoomParts) {
    this.#parts = parts;
  }

  /** Whether a change with so many bytes of values may be made now; then they count as gone. */
  // hot: every write
  take(valueBytes: number): boolean {
    const bytes = valueBytes + CHANGE_BYTES;
    const { now } = this.#parts;
    if (bytes > this.#left || now() >= this.#leftUntilMs) {
      this.#left = this.#writableBytes() - MARGIN_BYTES;
      this.#leftUntilMs = now() + KNOWN_MS;
    }
    this.#note(bytes > this.#left || now() < this.#failedUntilMs);
    if (this.#isFull) return false;
    this.#left -= bytes;
    return true;
  }

  /** Only what makes room is accepted. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** A write that failed now did so for want of room, whatever the engine says. */
  get isAlmostGone(): boolean {
    const { folder, freeBytes } = this.#parts;
    return freeBytes(folder) < MARGIN_BYTES;
  }

  /** A commit failed for want of room. */
  noteFailure(): void {
    this.#failedUntilMs = this.#parts.now() + FAILED_MS;
    this.#note(true);
  }

  /** Before a commit that makes room where there is none. */
  giveReserve(): void {
    const { folder, freeBytes, now } = this.#parts;
    this.#left = 0;
    if (freeBytes(folder) < PIECE_BYTES || now() < this.#failedUntilMs) givePiece(folder);
  }

  /** Now and then: makes the reserve whole where there is room for it and more. */
  async maintain(): Promise<void> {
    const { folder, freeBytes } = this.#parts;
    const file = path.join(folder, RESERVE_FILE);
    const missing = RESERVE_BYTES - sizeOf(file);
    if (missing <= 0 || this.#making !== undefined || freeBytes(folder) < missing + 2 * MARGIN_BYTES) return;
    // Without a reserve nothing is wrong but on a full disk.
    this.#making = appendNoise(file, missing)
      .catch(() => undefined)
      .finally(() => (this.#making = undefined));
    await this.#making;
  }

  /** Fulfilled when nothing is being written. */
  async idle(): Promise<void> {
    await this.#making;
  }

  #writableBytes(): number {
    const { folder, freeBytes } = this.#parts;
    const free = freeBytes(folder);
    return free >= 2 * MARGIN_BYTES ? free : Math.max(free, this.#freeBytesInFile());
  }

  #freeBytesInFile(): number {
    const { bytes, usedBytes } = this.size();
    return bytes - usedBytes;
  }

  /** Of the file, and of what the trees have of it. Pages that a reader may still look at count as free: they are soon. */
  size(): { readonly bytes: number; readonly usedBytes: number } {
    const { env, tables } = this.#parts;
    const { lastPageNumber, pageSize, root, free } = env.getStats() as EngineStats;
    const { current, log, expiries, leases, leased, meta } = tables;
    const trees = [current, log, expiries, leases, leased, meta].map((table) => table.getStats() as TreeStats);
    const used = [root, free, ...trees].reduce((sum, tree) => sum + pagesOf(tree), 2);
    const pages = lastPageNumber + 1;
    return { bytes: pages * pageSize, usedBytes: Math.min(pages, used) * pageSize };
  }

  #note(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    const { folder, log } = this.#parts;
    log?.warning(
      isFull
        ? `no space left to write to ${folder}: only deletes are accepted until some is made, there or by deleting objects`
        : `there is space to write to ${folder} again`,
    );
  }
}

interface TreeStats {
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

interface EngineStats {
  readonly lastPageNumber: number;
  readonly pageSize: number;
  readonly root: TreeStats;
  readonly free: TreeStats;
}

const pagesOf = ({ treeBranchPageCount, treeLeafPageCount, overflowPages }: TreeStats): number =>
  treeBranchPageCount + treeLeafPageCount + overflowPages;

/** Zeros would occupy no space on a file system that compresses. */
async function appendNoise(file: string, bytes: number): Promise<void> {
  const noise = Buffer.allocUnsafe(bytes);
  await new Promise<void>((resolve, reject) => {
    randomFill(noise, (error) => (error === null ? resolve() : reject(error)));
  });
  await fs.promises.appendFile(file, noise, { mode: 0o600 });
}
