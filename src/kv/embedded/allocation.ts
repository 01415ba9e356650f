// Blocks of the store's file beyond the engine's last page. A write that the engine cannot make does not only fail the commit:
// its error path writes beyond a buffer, and the process ends soon after. So before a commit the file has blocks on the disk for
// every page that the commit can need, and a full disk is met here, where nothing has happened yet:
//
//   0                      last page                                  end of the file
//   |        pages         |  zeros: need of the next commit  | kept  |
//
// What adds something leaves what is kept to deletes. The engine uses pages that are free within the file first, so that mostly
// less is used than was needed. A file system that never overwrites in place (btrfs, ZFS) promises nothing by this; there it is
// the free space that is watched.
import fs from 'node:fs';
import { promisify } from 'node:util';
import { isFullDisk } from '../../lib/files/full-disk.js';
import { endOfPages, freeTreePages, newestMeta, newMetaBuffers } from './meta-page.js';

/** Where the disk has it, the file grows by a quarter beyond what is missing, within these. */
const MIN_EXTENSION_BYTES = 256 * 1024;
const MAX_EXTENSION_BYTES = 4 * 1024 * 1024;
/** Left to the changes of a commit that makes room by what adds something. */
const KEPT_BYTES = 512 * 1024;
/** Pages of a commit beside those of its changes: the upper pages of trees, counters, dropped history. */
const COMMIT_BYTES = 512 * 1024;
/** A change copies and splits pages of three trees, and of two more where its key has a lease. */
const CHANGE_PAGES_BYTES = 40 * 1024;
/**
 * Linux caches what one write brings in one piece of memory, of 2 MiB at most, and on ext4 whoever writes a page of it later walks
 * over all of that piece: four times as long for the engine's writes as with this.
 */
const ZEROS = Buffer.alloc(256 * 1024);

const write = promisify(fs.write);

/** What a change can need, beside pages that all changes of a commit share. */
export const changeBytes = (valueBytes: number): number => valueBytes + CHANGE_PAGES_BYTES;

/** Of a record, beside its key and value. */
const RECORD_BYTES = 64;
/** A longer record has pages of its own, the last of which is not full. */
const MAX_INLINE_BYTES = 1024;
const PAGE_BYTES = 4096;

/**
 * What a further change can need in a commit with very many. All of them together copy no page of the trees twice, which the
 * first ones have counted; each adds a record, at worst to pages that are half full.
 */
export const furtherChangeBytes = (valueBytes: number, keyBytes: number): number =>
  2 * (valueBytes + keyBytes + RECORD_BYTES) + (valueBytes > MAX_INLINE_BYTES ? PAGE_BYTES : 0);

/** More changes than this in one commit are very many. */
export const MAX_FEW_CHANGES = 2048;

export interface CommitNeed {
  /** The sum of `changeBytes`. */
  readonly bytes: number;
  /** False for what only deletes, or drops history. */
  readonly adds: boolean;
}

/** Writes so many zeros from there on; answers how many, where the disk has no room for all. */
export type WriteZeros = (fd: number, from: number, bytes: number) => Promise<number>;

export class Allocation {
  readonly #fd: number;
  readonly #writeZeros: WriteZeros;
  readonly #metaBuffers = newMetaBuffers();
  #endBytes: number;
  /** At least so much is allocated beyond the last page: each commit counts as if it had needed all that it could. */
  #aheadBytes = 0;
  #sharedBytes = COMMIT_BYTES;

  constructor(file: string, writeZeros: WriteZeros = writeZerosToDisk) {
    this.#fd = fs.openSync(file, 'r+');
    this.#writeZeros = writeZeros;
    this.#endBytes = fs.fstatSync(this.#fd).size;
  }

  /**
   * Whether a commit may begin that has this need. Only while no commit runs, and before each. The file grows by what is
   * missing, and by `spareBytes` at most beyond it.
   */
  // hot: every commit
  take(need: CommitNeed, spareBytes: () => number): boolean | Promise<boolean> {
    return this.#takeKnown(need) || this.#takeFurther(need, spareBytes);
  }

  close(): void {
    fs.closeSync(this.#fd);
  }

  #takeKnown({ bytes, adds }: CommitNeed): boolean {
    const needed = bytes + this.#sharedBytes;
    if (needed + (adds ? this.#keptBytes : 0) > this.#aheadBytes) return false;
    this.#aheadBytes -= needed;
    return true;
  }

  get #keptBytes(): number {
    return this.#sharedBytes + KEPT_BYTES;
  }

  #takeFurther(need: CommitNeed, spareBytes: () => number): boolean | Promise<boolean> {
    const meta = newestMeta(this.#fd, this.#metaBuffers);
    if (meta === undefined) return false;
    // A commit may write the whole list of free pages anew.
    this.#sharedBytes = COMMIT_BYTES + 2 * freeTreePages(meta) * meta.pageSize;
    // Zeros are never written over a page, whatever the engine did.
    this.#endBytes = Math.max(this.#endBytes, endOfPages(meta));
    this.#aheadBytes = this.#endBytes - endOfPages(meta);
    const missing = need.bytes + this.#sharedBytes + this.#keptBytes - this.#aheadBytes;
    return missing > 0 ? this.#extend(need, missing, spareBytes) : this.#takeKnown(need);
  }

  async #extend(need: CommitNeed, missing: number, spareBytes: () => number): Promise<boolean> {
    const wanted = Math.min(MAX_EXTENSION_BYTES, Math.max(MIN_EXTENSION_BYTES, this.#endBytes / 4));
    const spare = Math.max(0, Math.min(Math.floor(wanted), spareBytes() - missing));
    const written = await this.#writeZeros(this.#fd, this.#endBytes, missing + spare);
    this.#endBytes += written;
    this.#aheadBytes += written;
    return this.#takeKnown(need);
  }
}

async function writeZerosToDisk(fd: number, from: number, bytes: number): Promise<number> {
  let written = 0;
  try {
    while (written < bytes) {
      const { bytesWritten } = await write(fd, ZEROS, 0, Math.min(ZEROS.length, bytes - written), from + written);
      written += bytesWritten;
    }
  } catch (error) {
    if (!isFullDisk(error)) throw error;
  }
  return written;
}
