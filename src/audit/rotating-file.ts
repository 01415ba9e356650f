// A log file that rotates itself: when a line does not fit any more, the file is renamed after the time
// and a new one begun.
//
//   audit.log                                 written to
//   audit-2026-11-15T08-30-00.123.log         rotated, as a whole
//   audit-2026-11-15T08-30-00.123.log.gz      and compressed
//
// Lines that come while others are being written are written together, by one call. A line is in the file whole or not
// at all: what a failing disk wrote of a line is cut off again.
import { writev } from 'node:fs';
import fs from 'node:fs/promises';
import { makeFolder } from '../lib/files/make-folder.js';
import path from 'node:path';
import type { LineBlock } from './line-block.js';
import type { LineWriter } from './log-backend.js';
import { rotatedName } from './old-files.js';

export interface RotatingFileOptions {
  readonly file: string;
  /** 0 for the default. */
  readonly maxMegabytes: number;
  readonly now: () => number;
  /** Called when the file is first written to, and after each rotation. */
  readonly tidy: () => void;
}

const DEFAULT_MEGABYTES = 100;
const MEGABYTE = 1024 * 1024;
/** What is written by one call, unless a single line is longer. */
const MAX_TOGETHER_BYTES = 4 * MEGABYTE;
const FILE_MODE = 0o600;

interface Waiting {
  readonly block: LineBlock;
  readonly failures: (Error | undefined)[];
  /** Lines of which it is known what came of them. */
  done: number;
  resolve(failures: readonly (Error | undefined)[] | undefined): void;
}

export class RotatingFile implements LineWriter {
  private readonly maxBytes: number;
  private handle: fs.FileHandle | undefined = undefined;
  private size = 0;
  private tidied = false;
  private readonly queue: Waiting[] = [];
  private working: Promise<void> | undefined = undefined;

  constructor(private readonly options: RotatingFileOptions) {
    this.maxBytes = (options.maxMegabytes || DEFAULT_MEGABYTES) * MEGABYTE;
  }

  write(block: LineBlock): Promise<readonly (Error | undefined)[] | undefined> {
    return new Promise((resolve) => {
      this.queue.push({ block, failures: [], done: 0, resolve });
      this.working ??= this.work();
    });
  }

  async close(): Promise<void> {
    await this.working;
    await this.handle?.close();
    this.handle = undefined;
  }

  private async work(): Promise<void> {
    for (;;) {
      const [next] = this.queue;
      if (next === undefined) {
        // In the same tick: a line that comes now begins the work anew.
        this.working = undefined;
        return;
      }
      try {
        await this.makeRoom(lineEnd(next.block, next.done) - lineEnd(next.block, next.done - 1));
      } catch (error) {
        this.settle(1, error as Error);
        continue;
      }
      const { pieces, lines } = this.fittingLines();
      const { written, error } = await this.append(pieces);
      if (error === undefined) this.settle(lines, undefined);
      else await this.keepWholeLines(lines, written, error);
    }
  }

  /** As many lines as fit into the file, at least one: the bytes of them, block by block. */
  private fittingLines(): { readonly pieces: readonly Buffer[]; readonly lines: number } {
    const pieces: Buffer[] = [];
    let lines = 0;
    let room = Math.min(MAX_TOGETHER_BYTES, this.maxBytes - this.size);
    for (const { block, done } of this.queue) {
      const start = lineEnd(block, done - 1);
      const last = lastFitting(block, done, start + room, lines === 0);
      const end = lineEnd(block, last);
      if (last < done) break;
      pieces.push(block.bytes.subarray(start, end));
      lines += last + 1 - done;
      room -= end - start;
      if (end < block.bytes.length) break;
    }
    return { pieces, lines };
  }

  /** Tells the writers of the next lines what came of them. */
  private settle(count: number, failure: Error | undefined): void {
    for (let left = count; left > 0;) {
      const waiting = this.queue[0];
      if (waiting === undefined) return;
      const lines = Math.min(left, waiting.block.ends.length - waiting.done);
      if (failure !== undefined) for (let i = 0; i < lines; i++) waiting.failures[waiting.done + i] = failure;
      waiting.done += lines;
      left -= lines;
      if (waiting.done < waiting.block.ends.length) continue;
      this.queue.shift();
      waiting.resolve(waiting.failures.length === 0 ? undefined : waiting.failures);
    }
  }

  private async append(pieces: readonly Buffer[]): Promise<{ readonly written: number; readonly error?: Error }> {
    let written = 0;
    try {
      if (this.handle === undefined) throw new Error('the log file is closed');
      for (let left = pieces; left.length > 0;) {
        const bytes = await writeOnce(this.handle.fd, left);
        written += bytes;
        left = behind(left, bytes);
      }
      this.size += written;
      return { written };
    } catch (error) {
      return { written, error: error as Error };
    }
  }

  /** Of the next lines so many bytes are written: what is there of one that is not whole is cut off again. */
  private async keepWholeLines(lines: number, written: number, failure: Error): Promise<void> {
    let whole = 0;
    let wholeBytes = 0;
    for (const length of this.nextLengths(lines)) {
      if (wholeBytes + length > written) break;
      wholeBytes += length;
      whole++;
    }
    // On what is no file there is nothing to cut off.
    if (written > wholeBytes) await this.handle?.truncate(this.size + wholeBytes).catch(() => undefined);
    this.size += wholeBytes;
    this.settle(whole, undefined);
    this.settle(lines - whole, failure);
  }

  private *nextLengths(lines: number): Generator<number> {
    let left = lines;
    for (const { block, done } of this.queue) {
      for (let i = done; i < block.ends.length && left > 0; i++, left--)
        yield lineEnd(block, i) - lineEnd(block, i - 1);
    }
  }

  private async makeRoom(bytes: number): Promise<void> {
    if (bytes > this.maxBytes) {
      throw new Error(`write length ${bytes} exceeds maximum file size ${this.maxBytes}`);
    }
    if (this.handle === undefined) await this.open(bytes);
    else if (this.size + bytes > this.maxBytes) await this.rotate();
  }

  private async open(bytes: number): Promise<void> {
    if (!this.tidied) {
      this.tidied = true;
      this.options.tidy();
    }
    const found = await fs.stat(this.options.file).catch(() => undefined);
    if (found !== undefined && found.size + bytes >= this.maxBytes) return await this.rotate();
    makeFolder(path.dirname(this.options.file));
    this.handle = await fs.open(this.options.file, 'a', FILE_MODE);
    this.size = found?.size ?? 0;
  }

  private async rotate(): Promise<void> {
    const { file } = this.options;
    await this.handle?.close();
    this.handle = undefined;
    const found = await fs.stat(file).catch(() => undefined);
    if (found !== undefined) await fs.rename(file, await this.freeName());
    makeFolder(path.dirname(file));
    this.handle = await fs.open(file, 'a', found === undefined ? FILE_MODE : found.mode & 0o777);
    this.size = 0;
    if (found !== undefined) await this.handle.chown(found.uid, found.gid).catch(() => undefined);
    this.options.tidy();
  }

  /** Two files rotated within a millisecond must not overwrite each other. */
  private async freeName(): Promise<string> {
    for (let atMs = this.options.now(); ; atMs++) {
      const name = rotatedName(this.options.file, atMs);
      const existing = await Promise.all([name, `${name}.gz`].map((one) => fs.stat(one).catch(() => undefined)));
      if (existing.every((found) => found === undefined)) return name;
    }
  }
}

const lineEnd = ({ ends }: LineBlock, index: number): number => ends[index] ?? 0;

/** The last line from `first` on that ends at `limit` or before; the first itself where one must. */
function lastFitting(block: LineBlock, first: number, limit: number, must: boolean): number {
  if (block.bytes.length <= limit) return block.ends.length - 1;
  let last = first - 1;
  while (lineEnd(block, last + 1) <= limit) last++;
  return must ? Math.max(first, last) : last;
}

/** Says how many bytes were written. */
const writeOnce = (fd: number, pieces: readonly Buffer[]): Promise<number> =>
  new Promise((resolve, reject) => {
    writev(fd, pieces, (error, written) => (error === null ? resolve(written) : reject(error)));
  });

/** What is left when so many bytes at the front are gone. */
function behind(pieces: readonly Buffer[], bytes: number): readonly Buffer[] {
  let gone = bytes;
  let whole = 0;
  for (; whole < pieces.length; whole++) {
    const { length } = pieces[whole] as Buffer;
    if (length > gone) break;
    gone -= length;
  }
  const [first, ...rest] = pieces.slice(whole);
  return first === undefined ? [] : [first.subarray(gone), ...rest];
}
