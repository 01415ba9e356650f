// A snapshot of a data folder, also of one that a running server has open. The engine lets other processes read the file: a
// read transaction sees one commit, whatever is written meanwhile, and its pages are not reused before it ends.
import fs from 'node:fs';
import path from 'node:path';
import type { RootDatabase, Transaction } from 'lmdb';
import { KvError } from '../kv.js';
import type { Snapshot, SnapshotEntry } from '../snapshot.js';
import { damagedRecords } from './damage.js';
import { engineTables, openEngine, type Tables } from './engine.js';
import {
  damaged,
  type DataFolder,
  DEFRAGMENT_FOLDER,
  openFailure,
  openFolder,
  openHeldFolder,
  refuseMissingStore,
  STORE_FILE,
} from './folder.js';
import { keyValueOf } from './change.js';
import { decodeChecked, decodeVersion, type Version } from './records.js';
import { diskFreeBytes, ENGINE_LOCK_FILE } from './reserve.js';
import { changeTotals, NO_TOTALS, readRevision, totalFaults } from './state.js';

const PAGE_KEYS = 500;
const PAGE_BYTES = 1024 * 1024;

/** Fails, as an open does, where the file cannot be read. A stopped server cannot be started until it is closed. */
export async function openFolderSnapshot(folder: string, nowMs: () => number = Date.now): Promise<Snapshot> {
  refuseMissingStore(folder);
  const { open } = await import('lmdb');
  for (;;) {
    const opened = await openFolder(folder, diskFreeBytes)
      .catch((error: unknown) => {
        if (error instanceof KvError && error.code === 'locked') return openHeldFolder(folder);
        throw error;
      })
      .catch((error: unknown) => {
        throw openFailure(folder, error);
      });
    let env: RootDatabase | undefined;
    try {
      if (!opened.isCompressed) throw tooOld(folder);
      const before = filesIn(folder);
      env = openEngine(open, opened.storePath, { readOnly: true });
      const snapshot = FolderSnapshot.begin({ env, tables: engineTables(env, opened), folder: opened, nowMs });
      if (before !== undefined && before === filesIn(folder)) return snapshot;
      await snapshot.close();
    } catch (error) {
      await env?.close();
      await opened.release();
      throw openFailure(folder, error);
    }
  }
}

/**
 * Which two files are the store's and its lock. The server may put others in their place (defragment.ts), one after the other:
 * undefined while only one of them is there. The reader that is in the lock file of another file is not known to the server.
 */
function filesIn(folder: string): string | undefined {
  const inodes = [ENGINE_LOCK_FILE, STORE_FILE].map((name) => fs.statSync(path.join(folder, name)).ino);
  const beside = path.join(folder, DEFRAGMENT_FOLDER);
  const isBetween = fs.existsSync(path.join(beside, STORE_FILE)) && !fs.existsSync(path.join(beside, ENGINE_LOCK_FILE));
  return isBetween ? undefined : inodes.join(' ');
}

const tooOld = (folder: string): KvError =>
  new KvError('unavailable', `an early build wrote the store in ${folder}: start a server with it once`);

/** What a snapshot reads from, and closes at its end. */
interface ReadStore {
  readonly env: RootDatabase;
  readonly tables: Pick<Tables, 'current' | 'leases' | 'meta'>;
  readonly folder: DataFolder;
  readonly nowMs: () => number;
}

class FolderSnapshot implements Snapshot {
  private constructor(
    readonly revision: number,
    readonly keys: number,
    private readonly transaction: Transaction,
    private readonly store: ReadStore,
  ) {}

  static begin(store: ReadStore): FolderSnapshot {
    const transaction = store.env.useReadTransaction();
    const known = readRevision(store.tables.meta, { transaction });
    if (known?.totals === undefined) throw tooOld(store.folder.path);
    return new FolderSnapshot(known.revision, known.totals.count, transaction, store);
  }

  async *pages(): AsyncGenerator<readonly SnapshotEntry[]> {
    const { transaction } = this;
    const { tables, folder, nowMs } = this.store;
    const ends = new KeyEnds(tables.leases, transaction, nowMs());
    let totals = NO_TOTALS;
    let page: SnapshotEntry[] = [];
    let bytes = 0;
    for (const { key: name, value } of tables.current.getRange({ transaction })) {
      const version = decodeVersion(name, value, false);
      const key = name.toString();
      if (version.isDamaged) throw damagedRecords([{ key, revision: version.modRevision }]);
      totals = changeTotals(totals, name, undefined, version);
      page.push({
        ...keyValueOf(key, version),
        name: Buffer.from(name),
        version: version.version,
        expiresAtMs: ends.of(version),
      });
      bytes += value.length;
      if (page.length < PAGE_KEYS && bytes < PAGE_BYTES) continue;
      yield page;
      page = [];
      bytes = 0;
    }
    if (page.length > 0) yield page;
    const written = readRevision(tables.meta, { transaction })?.totals ?? NO_TOTALS;
    const [fault] = totalFaults(totals, written);
    if (fault !== undefined) throw damaged(folder.path, fault);
  }

  async close(): Promise<void> {
    this.transaction.done();
    await this.store.env.close();
    await this.store.folder.release();
  }
}

/** When keys end. Those of a lease end with it, and it has its whole time again, as after a restart. */
class KeyEnds {
  readonly #ttlSeconds = new Map<bigint, number>();

  constructor(
    leases: Tables['leases'],
    transaction: Transaction,
    private readonly nowMs: number,
  ) {
    for (const { key, value } of leases.getRange({ transaction })) {
      this.#ttlSeconds.set(key.readBigInt64BE(0), decodeChecked(key, value)?.numbers[0] ?? 0);
    }
  }

  of({ lease, expiresAtMs }: Pick<Version, 'lease' | 'expiresAtMs'>): number {
    return lease === 0n ? expiresAtMs : this.nowMs + (this.#ttlSeconds.get(lease) ?? 0) * 1000;
  }
}
