// The engine's file, and the tables in it.
import type * as Lmdb from 'lmdb';
import type { Database, RootDatabase } from 'lmdb';
import { damaged, type DataFolder } from './folder.js';
import { compressionOf, type ValueCompression } from './value-compression.js';

/** Addresses, not memory. When the file outgrows them the engine maps it anew, and the old map stays in memory too. */
const MAP_BYTES = 8 * 1024 ** 3;
const HAS_FEW_ADDRESSES: ReadonlySet<string> = new Set(['arm', 'ia32', 'mips', 'mipsel']);

export type Open = typeof Lmdb.open;

export const TABLE_NAMES = ['current', 'log', 'expiries', 'leases', 'leased', 'meta'] as const;
export type TableName = (typeof TABLE_NAMES)[number];

export interface Tables extends Readonly<Record<TableName, Database<Buffer, Buffer>>> {
  readonly env: RootDatabase;
  /** Records that may lack a checksum: those of `current`, and those of `log` up to a revision. */
  readonly unchecked: { readonly current: boolean; readonly logUntil: number };
}

/** `readOnly`: nothing is written, not even what is missing. */
export const openEngine = (
  open: Open,
  file: string,
  { readOnly = false, noSync = false }: { readonly readOnly?: boolean; readonly noSync?: boolean } = {},
): RootDatabase =>
  open({
    path: file,
    readOnly,
    noSync,
    noSubdir: true,
    overlappingSync: false,
    // Commits are batched here; the engine's own batching per event-loop turn leaves a rejection unhandled on a full disk.
    eventTurnBatching: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    compression: false,
    cache: false,
    maxDbs: 8,
    ...(HAS_FEW_ADDRESSES.has(process.arch) ? {} : { mapSize: MAP_BYTES }),
  });

/** As they are; where nothing is compressed yet the dictionary is written, and what is missing is made in the same commit. */
export const engineTables = (env: RootDatabase, folder: Pick<DataFolder, 'path' | 'isCompressed'>): Tables =>
  folder.isCompressed ? openedTables(env, folder) : env.transactionSync(() => openedTables(env, folder));

function openedTables(env: RootDatabase, folder: Pick<DataFolder, 'path' | 'isCompressed'>): Tables {
  const table = (name: TableName, compression: ValueCompression | false = false): Database<Buffer, Buffer> =>
    env.openDB<Buffer, Buffer>(name, { encoding: 'binary', keyEncoding: 'binary', cache: false, compression });
  const meta = table('meta');
  const compression = compressionOf(meta, folder.isCompressed);
  if (compression === undefined) throw damaged(folder.path, 'the dictionary of its values is damaged');
  return {
    env,
    current: table('current', compression),
    log: table('log', compression),
    expiries: table('expiries'),
    leases: table('leases'),
    leased: table('leased'),
    meta,
    unchecked: { current: true, logUntil: Infinity },
  };
}
