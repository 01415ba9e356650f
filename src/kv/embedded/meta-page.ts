// The two meta pages that the store's file begins with: each commit writes the one that the commit before did not.
import fs from 'node:fs';

const MAGIC = 0xbeefc0de;
export const MIN_PAGE = 4096;
const META_SIZE = 0xa0;
/** More addresses than a process has. */
const MAX_MAP_BYTES = 2n ** 47n;
/** The pages of the tree of free pages: branches, leaves, overflow. */
const FREE_TREE_PAGES = [0x38, 0x40, 0x48];

export interface MetaPage {
  readonly bytes: Buffer;
  readonly pageSize: number;
  readonly lastPage: bigint;
  readonly transaction: bigint;
}

/** The newer of the two; undefined where the file does not begin as a store does. */
export function newestMeta(fd: number): MetaPage | undefined {
  const first = readMeta(fd, 0);
  const second = readMeta(fd, first?.pageSize ?? MIN_PAGE);
  if (first === undefined || second === undefined || !first.fixed.equals(second.fixed)) return undefined;
  return first.transaction > second.transaction ? first : second;
}

/** Where the last page ends. */
export const endOfPages = ({ lastPage, pageSize }: MetaPage): number => (Number(lastPage) + 1) * pageSize;

/** Pages that list the free pages. */
export const freeTreePages = ({ bytes }: MetaPage): number =>
  FREE_TREE_PAGES.reduce((sum, offset) => sum + Number(bytes.readBigUInt64LE(offset)), 0);

interface Meta extends MetaPage {
  /** What never changes. */
  readonly fixed: Buffer;
}

function readMeta(fd: number, offset: number): Meta | undefined {
  const bytes = Buffer.alloc(META_SIZE);
  fs.readSync(fd, bytes, 0, META_SIZE, offset);
  const pageSize = bytes.readUInt32LE(0x30);
  if (bytes.readUInt32LE(0x18) !== MAGIC || pageSize < 256 || pageSize > 65536) return undefined;
  // The version, the address, and what the two trees say of their kind; the size of the page and the map stand between.
  const fixed = Buffer.concat(
    [
      [0x18, 0x28],
      [0x30, 0x36],
      [0x60, 0x66],
    ].map(([from, to]) => bytes.subarray(from, to)),
  );
  const isMapped = bytes.readBigUInt64LE(0x28) <= MAX_MAP_BYTES;
  if (!isMapped) return undefined;
  const lastPage = bytes.readBigUInt64LE(0x90);
  return { bytes, fixed, pageSize, lastPage, transaction: bytes.readBigUInt64LE(0x98) };
}
