// Room on the disk. Writes that add something are refused before the last of it is gone, as etcd's quota does, so that deletes
// and compaction, which make room, always go:
//
//   free ≥ MARGIN                       everything goes
//   free pages in the file ≥ MARGIN     the same: they are written before the file grows
//   else                                only what makes room, from the reserve
//
// How much is free is known from a while ago, and others write to the disk, too. What a commit needs is therefore allocated
// before it begins (allocation.ts).
import type { Logger } from '../../lib/telemetry/log.js';
import { Allocation, type CommitNeed, type WriteZeros } from './allocation.js';
import type { Tables } from './engine.js';
import { type FileSize, fileSize } from './file-size.js';
import { type FreeBytes, givePiece, refillReserve } from './reserve.js';

/** Left free by writes that add something, beyond their own size. */
const MARGIN_BYTES = 2 * 1024 * 1024;
/** So long it is believed how much there was; others write to the disk, too. */
const KNOWN_MS = 1_000;
/** So long after a commit found no room where there seemed to be some (a user's quota) nothing is added. */
const FAILED_MS = 5_000;

export interface RoomParts {
  readonly folder: string;
  readonly storePath: string;
  readonly freeBytes: FreeBytes;
  /** The most that may be in use; absent where the disk alone is the limit. */
  readonly quotaBytes?: number | undefined;
  /** Where there is no room for what a delete replaces, the history before it is dropped. On a full disk it is in any case. */
  readonly mayDropHistory: boolean;
  readonly writeZeros?: WriteZeros | undefined;
  readonly now: () => number;
  readonly log: Logger | undefined;
}

export class Room {
  readonly #parts: RoomParts;
  #allocation: Allocation;
  /** Known once they are open. */
  #tables: Tables | undefined;
  /** Bytes that may be written before free space is checked again: of the disk, and within the quota. */
  #left = 0;
  #quotaLeft = 0;
  #leftUntilMs = 0;
  #isFull = false;
  /** What the last change that adds something can need. */
  #wantedBytes = 0;
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

  /** Whether a change that can need so much may be made now; then that counts as gone. */
  // hot: every write
  take(bytes: number): boolean {
    this.#look(bytes);
    this.#wantedBytes = bytes;
    this.#noteWhetherFull();
    return this.#isFull ? false : this.#count(bytes);
  }

  /** Takes room for a delete. Where it may not drop history for it, a quota is for what adds something. */
  takeForDelete(bytes: number): boolean {
    if (this.#parts.mayDropHistory) return this.take(bytes);
    this.#look(bytes);
    const isFull = bytes > this.#left || this.#parts.now() < this.#failedUntilMs;
    if (isFull) this.#note(true);
    return isFull ? false : this.#count(bytes);
  }

  /** How much is left, where that is not known, or not enough. */
  #look(bytes: number): void {
    const nowMs = this.#parts.now();
    if (bytes <= Math.min(this.#left, this.#quotaLeft) && nowMs < this.#leftUntilMs) return;
    this.#left = this.#writableBytes() - MARGIN_BYTES;
    this.#quotaLeft = this.quotaBytes === Infinity ? Infinity : this.quotaBytes - this.size().usedBytes;
    this.#leftUntilMs = nowMs + KNOWN_MS;
  }

  #count(bytes: number): true {
    this.#left -= bytes;
    this.#quotaLeft -= bytes;
    return true;
  }

  /** Whether the next commit has its blocks. Only while no commit runs, and before each. */
  // hot: every commit
  allocate(need: CommitNeed): boolean | Promise<boolean> {
    const taken = this.#allocation.take(need, this.#spareBytes);
    return taken === true ? true : this.#allocateFurther(need, taken);
  }

  /** The most that may be in use; Infinity where the disk alone is the limit. */
  get quotaBytes(): number {
    return this.#parts.quotaBytes ?? Infinity;
  }

  /** Whether another file of so many bytes may lie beside the store's for a while. */
  hasRoomBeside(bytes: number): boolean {
    return this.#parts.freeBytes(this.#parts.folder) >= bytes + 2 * MARGIN_BYTES;
  }

  /** Of another file in the store's place, soon or later. */
  allocationOf(file: string): Allocation {
    return new Allocation(file, this.#parts.writeZeros);
  }

  /** The store goes on in that file. Only while no commit runs. */
  moveTo(allocation: Allocation): void {
    this.#allocation.close();
    this.#allocation = allocation;
    this.#left = 0;
  }

  /** Only what makes room was accepted last. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Whether the last change would be refused now as well: room may have been made since. */
  isStillFull(): boolean {
    if (!this.#isFull) return false;
    this.#leftUntilMs = 0;
    this.#look(this.#wantedBytes);
    this.#noteWhetherFull();
    return this.#isFull;
  }

  #noteWhetherFull(): void {
    const hasFailed = this.#parts.now() < this.#failedUntilMs;
    this.#note(hasFailed || this.#wantedBytes > Math.min(this.#left, this.#quotaLeft));
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

  #freeBytesInFile(): number {
    const { bytes, usedBytes } = this.size();
    return bytes - usedBytes;
  }

  size(): FileSize {
    return this.#tables === undefined ? { bytes: 0, usedBytes: 0 } : fileSize(this.#tables);
  }

  #note(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    const { folder, log, quotaBytes } = this.#parts;
    const deletes = 'only deletes are accepted until some is made';
    if (!isFull) log?.warning(`there is space to write to ${folder} again`);
    else if (this.#quotaLeft < 2 * MARGIN_BYTES) {
      log?.warning(`the quota of ${quotaBytes} bytes in ${folder} is used up: ${deletes}`);
    } else log?.warning(`no space left to write to ${folder}: ${deletes}, there or by deleting objects`);
  }
}
