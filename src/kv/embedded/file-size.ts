// How large the store's file is, and how much of it is in use.
import { TABLE_NAMES, type Tables } from './engine.js';

export interface FileSize {
  readonly bytes: number;
  /** Of the trees. Pages that a reader may still look at count as free: they are soon. */
  readonly usedBytes: number;
}

export function fileSize(tables: Tables): FileSize {
  const { lastPageNumber, pageSize, root, free } = tables.env.getStats() as EngineStats;
  const trees = TABLE_NAMES.map((table) => tables[table].getStats() as TreeStats);
  const used = [root, free, ...trees].reduce((sum, tree) => sum + pagesOf(tree), 2);
  const pages = lastPageNumber + 1;
  return { bytes: pages * pageSize, usedBytes: Math.min(pages, used) * pageSize };
}

/** How many records a table has. */
export function recordCount(tables: Tables, table: (typeof TABLE_NAMES)[number]): number {
  return (tables[table].getStats() as TreeStats).entryCount;
}

interface TreeStats {
  readonly entryCount: number;
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
