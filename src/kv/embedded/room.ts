// Room on the disk. Writes that add something are refused before the last of it is gone, as etcd's quota does, so that deletes
// and compaction, which make room, always go:
//
//   free ≥ MARGIN                       everything goes
//   free pages in the file ≥ MARGIN     the same: they are written before the file grows
//   else                                only what makes room, from the reserve
//
// How much is free is known from a while ago, and others write to the disk, too. What a commit needs is therefore allocated
// before it begins (allocation.ts).
import type { RootDatabase } from 'lmdb';
import type { Logger } from '../../lib/telemetry/log.js';
import { Allocation, changeBytes, type CommitNeed, type WriteZeros } from './allocation.js';
import type { Tables } from './past.js';
import { type FreeBytes, givePiece, refillReserve } from './reserve.js';

/** Left free by writes that add something, beyond their own size. */
const MARGIN_BYTES = 2 * 1024 * 1024;
/** So long it is believed how much there was; others write to the disk, too. */
const KNOWN_MS = 1_000;
/** So long after a commit found no room where there seemed to be some (a user's quota) nothing is added. */
const FAILED_MS = 5_000;

export interface RoomParts {
  readonly env: RootDatabase;
  readonly folder: string;
  readonly storePath: string;
  readonly freeBytes: FreeBytes;
  /** The most that may be in use; absent where the disk alone is the limit. */
  readonly quotaBytes?: number | undefined;
  readonly writeZeros?: WriteZeros | undefined;
  readonly now: () => number;
  readonly log: Logger | undefined;
}

export class Room {
  readonly #parts: RoomParts;
  readonly #allocation: Allocation;
  /** Known once they are open. */
  #tables: Tables | undefined;
  /** Bytes that may be written before free space is checked again. */
  #left = 0;
  #leftUntilMs = 0;
  #isFull = false;
  #failedUntilMs = 0;
  #refilling: Promise<void> | undefined;

  constructor(parts: RoomParts) {
    this.#parts = parts;
    this.#allocation = new Allocation(parts.storePath, parts.writeZeros);
  }

  /** How many pages they have says how many are free. */
  set tables(tables: Tables) {
    this.#tables = tables;
  }

  /** Whether a change with so many bytes of values may be made now; then they count as gone. */
  // hot: every write
  take(valueBytes: number): boolean {
    const bytes = changeBytes(valueBytes);
    const { now } = this.#parts;
    if (bytes > this.#left || now() >= this.#leftUntilMs) {
      this.#left = Math.min(this.#writableBytes() - MARGIN_BYTES, this.#quotaLeft());
      this.#leftUntilMs = now() + KNOWN_MS;
    }
    this.#note(bytes > this.#left || now() < this.#failedUntilMs);
    if (this.#isFull) return false;
    this.#left -= bytes;
    return true;
  }

  /** Whether the next commit has its blocks. Only while no commit runs, and before each. */
  // hot: every commit
  allocate(need: CommitNeed): boolean | Promise<boolean> {
    const taken = this.#allocation.take(need, this.#spareBytes);
    return taken === true ? true : this.#allocateFurther(need, taken);
  }

  /** Only what makes room is accepted. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Now and then: makes the reserve whole where there is room for it and more. */
  async maintain(): Promise<void> {
    if (this.#refilling !== undefined) return;
    const { folder, freeBytes } = this.#parts;
    // Without a reserve nothing is wrong but on a full disk.
    this.#refilling = refillReserve(folder, freeBytes, 2 * MARGIN_BYTES)
      .catch(() => undefined)
      .finally(() => (this.#refilling = undefined));
    await this.#refilling;
  }

  /** After the last commit. */
  async close(): Promise<void> {
    await this.#refilling;
    this.#allocation.close();
  }

  /** The reserve is for what makes room, and for what pages that are free already will hold. */
  async #allocateFurther(need: CommitNeed, first: boolean | Promise<boolean>): Promise<boolean> {
    for (let taken = await first; !taken; taken = await this.#allocation.take(need, this.#spareBytes)) {
      this.#left = 0;
      const mayGive = !need.adds || this.#freeBytesInFile() >= MARGIN_BYTES;
      if (mayGive && givePiece(this.#parts.folder)) continue;
      this.#noteFailure();
      return false;
    }
    return true;
  }

  readonly #spareBytes = (): number => this.#parts.freeBytes(this.#parts.folder) - 2 * MARGIN_BYTES;

  #noteFailure(): void {
    const { folder, freeBytes, now } = this.#parts;
    if (freeBytes(folder) >= MARGIN_BYTES) this.#failedUntilMs = now() + FAILED_MS;
    this.#note(true);
  }

  #writableBytes(): number {
    const { folder, freeBytes } = this.#parts;
    const free = freeBytes(folder);
    return free >= 2 * MARGIN_BYTES ? free : Math.max(free, this.#freeBytesInFile());
  }

  #quotaLeft(): number {
    const { quotaBytes } = this.#parts;
    return quotaBytes === undefined ? Infinity : quotaBytes - this.size().usedBytes;
  }

  #freeBytesInFile(): number {
    const { bytes, usedBytes } = this.size();
    return bytes - usedBytes;
  }

  /** Of the file, and of what the trees have of it. Pages that a reader may still look at count as free: they are soon. */
  size(): { readonly bytes: number; readonly usedBytes: number } {
    const { lastPageNumber, pageSize, root, free } = this.#parts.env.getStats() as EngineStats;
    if (this.#tables === undefined) return { bytes: 0, usedBytes: 0 };
    const { current, log, expiries, leases, leased, meta } = this.#tables;
    const trees = [current, log, expiries, leases, leased, meta].map((table) => table.getStats() as TreeStats);
    const used = [root, free, ...trees].reduce((sum, tree) => sum + pagesOf(tree), 2);
    const pages = lastPageNumber + 1;
    return { bytes: pages * pageSize, usedBytes: Math.min(pages, used) * pageSize };
  }

  #note(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    const { folder, log, quotaBytes } = this.#parts;
    const deletes = 'only deletes are accepted until some is made';
    if (!isFull) log?.warning(`there is space to write to ${folder} again`);
    else if (this.#quotaLeft() < 2 * MARGIN_BYTES) {
      log?.warning(`the quota of ${quotaBytes} bytes in ${folder} is used up: ${deletes}`);
    } else log?.warning(`no space left to write to ${folder}: ${deletes}, there or by deleting objects`);
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
