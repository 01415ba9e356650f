// Pages of the store's file that have no blocks on the disk: an earlier build left some where a page was taken and never written.
// The engine counts them among the free pages, and would meet a full disk when it writes one.
import fs from 'node:fs';
import { isFullDisk } from '../../lib/files/full-disk.js';

/** `stat` counts in these. */
const BLOCK_BYTES = 512;
const PAGE_BYTES = 4096;
const CHUNK_BYTES = 1024 * 1024;
/** A start must not wait for a store of many gigabytes to be read. */
const MAX_BYTES = 1024 ** 3;

/** Only while nobody has the file open. A page of zeros is written as it is; where the disk has no room the holes stay. */
export function fillHoles(file: string): void {
  const { size, blocks } = fs.statSync(file);
  if (blocks * BLOCK_BYTES >= size || size > MAX_BYTES) return;
  const fd = fs.openSync(file, 'r+');
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const zeros = Buffer.alloc(PAGE_BYTES);
    for (let from = 0; from < size; from += CHUNK_BYTES) {
      const bytes = fs.readSync(fd, chunk, 0, CHUNK_BYTES, from);
      for (let at = 0; at < bytes; at += PAGE_BYTES) {
        const page = chunk.subarray(at, Math.min(at + PAGE_BYTES, bytes));
        if (zeros.subarray(0, page.length).equals(page)) fs.writeSync(fd, page, 0, page.length, from + at);
      }
    }
  } catch (error) {
    if (!isFullDisk(error)) throw error;
  } finally {
    fs.closeSync(fd);
  }
}
