// The two meta pages that the store's file begins with: each commit writes the one that the commit before did not.
import fs from 'node:fs';

const MAGIC = 0xbeefc0de;
export const MIN_PAGE = 4096;
const META_SIZE = 0xa0;
/** More addresses than a process has. */
const MAX_MAP_BYTES = 2 ** 47;
/** What never changes: the version, the address, and what the two trees say of their kind; the size of the page and the map stand between. */
const FIXED = [
  [0x18, 0x28],
  [0x30, 0x36],
  [0x60, 0x66],
] as const;
/** The pages of the tree of free pages: branches, leaves, overflow. */
const FREE_TREE_PAGES = [0x38, 0x40, 0x48];

export interface MetaPage {
  readonly bytes: Buffer;
  readonly pageSize: number;
  readonly lastPage: number;
  readonly transaction: number;
}

/** What both are read into. */
export interface MetaBuffers {
  readonly first: Buffer;
  readonly second: Buffer;
}

export const newMetaBuffers = (): MetaBuffers => ({ first: Buffer.alloc(META_SIZE), second: Buffer.alloc(META_SIZE) });

/** The newer of the two, in one of the buffers; undefined where the file does not begin as a store does. */
// hot: nearly every commit of a single write
export function newestMeta(fd: number, into = newMetaBuffers()): MetaPage | undefined {
  const first = readMeta(fd, 0, into.first);
  const second = readMeta(fd, first?.pageSize ?? MIN_PAGE, into.second);
  if (first === undefined || second === undefined || !areOfOneFile(first.bytes, second.bytes)) return undefined;
  return first.transaction > second.transaction ? first : second;
}

/** Where the last page ends. */
export const endOfPages = ({ lastPage, pageSize }: MetaPage): number => (lastPage + 1) * pageSize;

/** Pages that list the free pages. */
export function freeTreePages({ bytes }: MetaPage): number {
  let pages = 0;
  for (const offset of FREE_TREE_PAGES) pages += longAt(bytes, offset);
  return pages;
}

/** A number of eight bytes; what is above 2^53 is not exact, and nothing of a sound file is. */
const longAt = (bytes: Buffer, at: number): number => bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;

function readMeta(fd: number, offset: number, bytes: Buffer): MetaPage | undefined {
  if (fs.readSync(fd, bytes, 0, META_SIZE, offset) < META_SIZE) return undefined;
  const pageSize = bytes.readUInt32LE(0x30);
  if (bytes.readUInt32LE(0x18) !== MAGIC || pageSize < 256 || pageSize > 65536) return undefined;
  const isMapped = longAt(bytes, 0x28) <= MAX_MAP_BYTES;
  if (!isMapped) return undefined;
  return { bytes, pageSize, lastPage: longAt(bytes, 0x90), transaction: longAt(bytes, 0x98) };
}

function areOfOneFile(first: Buffer, second: Buffer): boolean {
  for (const [from, to] of FIXED) {
    for (let at = from; at < to; at++) if (first[at] !== second[at]) return false;
  }
  return true;
}
