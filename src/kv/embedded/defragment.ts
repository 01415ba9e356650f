// Gives back what is free in the store's file, while others read and write. The engine writes a copy without free pages, beside
// the store; what commits change meanwhile is noted, and brought over in rounds. The last round is between two commits:
//
//   store.mdb                    commits ──────────────────────────────┐ none runs ┌── commits
//   defragment/store.mdb         copy │ round │ round │ …              │ last, sync│ now store.mdb
//
// The new file takes the store's place by a rename, when everything that was answered is on disk in it: whenever the process
// ends, one of the two files is there, and it is whole. What is left of an unfinished copy is removed at the next start.
import fs from 'node:fs';
import path from 'node:path';
import type { RootDatabase } from 'lmdb';
import { Yielder } from '../../lib/scheduling/yield.js';
import { KvError } from '../kv.js';
import { type Allocation, changeBytes, furtherChangeBytes } from './allocation.js';
import { copyFile } from './back-up.js';
import { nameOf } from './byte-key.js';
import type { Commits } from './commits.js';
import { engineTables, type Open, openEngine, TABLE_NAMES, type TableName, type Tables } from './engine.js';
import { fileSize, recordCount } from './file-size.js';
import { DEFRAGMENT_FOLDER, openFailure, STORE_FILE } from './folder.js';
import type { MovableTables } from './movable-tables.js';
import { makePrivateFile } from './private-folder.js';
import { ENGINE_LOCK_FILE, fillLockFile } from './reserve.js';
import type { Room } from './room.js';
import { syncFile, syncFolder } from './sync.js';
import type { TableWrites } from './table-writes.js';
import type { TouchedRecords } from './touched-records.js';

/** Records that the last round may bring over: so long do commits wait. */
const MAX_LAST_ROUND = 500;
/** Where writers are quicker than that, the last round is longer. */
const MAX_ROUNDS = 20;
/** More are not kept in memory: it is for another time, with fewer writers. */
const MAX_TOUCHED = 500_000;
/** Of one commit to the new file. */
const BATCH_RECORDS = 500;
const BATCH_BYTES = 1024 * 1024;

/** What a process is asked for at the lock of its data folder. */
export const DEFRAGMENT_LINE = 'defragment';

export interface Defragmented {
  readonly beforeBytes: number;
  readonly afterBytes: number;
}

export interface DefragmentParts {
  readonly open: Open;
  readonly folder: string;
  readonly noSync: boolean;
  readonly tables: MovableTables;
  readonly writes: TableWrites;
  readonly commits: Commits;
  readonly room: Room;
  /** Throws where the store is about to be closed. */
  readonly checkOpen: () => void;
  /** Called at each step, for tests. */
  readonly reached?: ((step: DefragmentStep) => void) | undefined;
}

export type DefragmentStep = 'copied' | 'caught-up' | 'lock-renamed' | 'renamed' | 'moved';

export async function defragment(parts: DefragmentParts): Promise<Defragmented> {
  const { room, folder, writes } = parts;
  const { bytes: beforeBytes, usedBytes } = room.size();
  if (!room.hasRoomBeside(usedBytes)) throw noRoom(folder, usedBytes);
  const beside = path.join(folder, DEFRAGMENT_FOLDER);
  let copy: Copy | undefined;
  try {
    copy = await Copy.make(parts, beside);
    await copy.catchUp();
    const { closed } = await copy.takePlace();
    await closed;
    return { beforeBytes, afterBytes: room.size().bytes };
  } catch (error) {
    writes.stopNoting();
    await copy?.abandon();
    throw openFailure(folder, error);
  } finally {
    fs.rmSync(beside, { recursive: true, force: true });
  }
}

const noRoom = (folder: string, bytes: number): KvError =>
  new KvError(
    'disk-full',
    `cannot defragment ${folder}: the copy needs ${bytes} bytes beside the store, and some more`,
  );

/** The file of the copy, opened. */
interface CopiedFile {
  /** The folder that it lies in until it takes the place of the store's. */
  readonly beside: string;
  readonly env: RootDatabase;
  readonly tables: Tables;
  readonly allocation: Allocation;
}

class Copy {
  #isInPlace = false;

  private constructor(
    private readonly parts: DefragmentParts,
    private readonly file: CopiedFile,
    /** What was written since the copy, or since it was last brought over. */
    private touched: TouchedRecords,
  ) {}

  static async make(parts: DefragmentParts, beside: string): Promise<Copy> {
    const { tables, commits, writes, room, folder, noSync, open } = parts;
    fs.rmSync(beside, { recursive: true, force: true });
    fs.mkdirSync(beside, { mode: 0o700 });
    // Before the copy: who reads beside the server knows by it that no rename is under way (folder-snapshot.ts).
    makePrivateFile(beside, ENGINE_LOCK_FILE);
    fillLockFile(beside);
    const file = path.join(beside, STORE_FILE);
    const touched = await commits.exclusively(async () => writes.startNoting());
    await copyFile(tables, file);
    parts.reached?.('copied');
    const env = openEngine(open, file, { noSync });
    try {
      const copied = engineTables(env, { path: folder, isCompressed: true });
      return new Copy(parts, { beside, env, tables: copied, allocation: room.allocationOf(file) }, touched);
    } catch (error) {
      await env.close();
      throw error;
    }
  }

  /** Until so little is left that commits can wait for it. */
  async catchUp(): Promise<void> {
    const { commits, writes } = this.parts;
    for (let round = 0; this.touched.size > MAX_LAST_ROUND && round < MAX_ROUNDS; round++) {
      const touched = await commits.exclusively(async () => {
        const before = this.touched;
        this.touched = writes.startNoting();
        return before;
      });
      if (touched.size > MAX_TOUCHED) {
        throw new KvError('unavailable', 'cannot defragment: too much is written meanwhile');
      }
      await this.#bringOver(touched);
    }
    this.parts.reached?.('caught-up');
  }

  /** `closed`: fulfilled when the file before is closed, which is later where somebody still reads it. */
  async takePlace(): Promise<{ readonly closed: Promise<void> }> {
    const { commits, writes, tables, room, folder, checkOpen, reached } = this.parts;
    return commits.exclusively(async () => {
      await this.#bringOver(this.touched);
      writes.stopNoting();
      this.#check();
      await syncFile(path.join(this.file.beside, STORE_FILE));
      checkOpen();
      // The lock file first: whoever opens the new file beside this process finds the lock file that belongs to it.
      this.#rename(ENGINE_LOCK_FILE);
      reached?.('lock-renamed');
      this.#rename(STORE_FILE);
      this.#isInPlace = true;
      reached?.('renamed');
      syncFolder(folder);
      room.moveTo(this.file.allocation);
      const closed = tables.moveTo(this.file.tables);
      reached?.('moved');
      return { closed };
    });
  }

  #rename(name: string): void {
    fs.renameSync(path.join(this.file.beside, name), path.join(this.parts.folder, name));
  }

  async abandon(): Promise<void> {
    if (this.#isInPlace) return;
    this.file.allocation.close();
    await this.file.env.close();
  }

  /** As the store has them now, or has them no more. */
  async #bringOver(touched: TouchedRecords): Promise<void> {
    const { tables, checkOpen } = this.parts;
    const yielder = new Yielder();
    let batch = new Batch(this.file.tables);
    for (const [table, key] of touched) {
      checkOpen();
      const name = nameOf(key);
      tables.env.resetReadTxn();
      batch.add(table, name, tables[table].get(name));
      if (batch.isFull) {
        await this.#write(batch);
        batch = new Batch(this.file.tables);
      }
      await yielder.yieldIfDue();
    }
    await this.#write(batch);
  }

  async #write(batch: Batch): Promise<void> {
    const need = { bytes: batch.needBytes, adds: false };
    if (!(await this.file.allocation.take(need, () => 0))) throw noRoom(this.parts.folder, need.bytes);
    await this.file.env.batch(() => batch.write());
  }

  /** Nothing is ever missing; if it were, the store would go on with the file that has it. */
  #check(): void {
    for (const table of TABLE_NAMES) {
      const [before, after] = [this.parts.tables, this.file.tables].map((tables) => {
        tables.env.resetReadTxn();
        return recordCount(tables, table);
      });
      if (before !== after) throw new Error(`the copy has ${after} records of ${table}, and the store ${before}`);
    }
  }
}

/** Records that one commit brings over. */
class Batch {
  readonly #writes: (() => void)[] = [];
  #bytes = 0;
  #changeBytes = 0;
  #furtherBytes = 0;

  constructor(private readonly tables: Tables) {}

  add(table: TableName, name: Buffer, value: Buffer | undefined): void {
    const target = this.tables[table];
    this.#writes.push(value === undefined ? () => void target.remove(name) : () => void target.put(name, value));
    const valueBytes = value?.length ?? 0;
    this.#bytes += valueBytes;
    this.#changeBytes += changeBytes(valueBytes);
    this.#furtherBytes += furtherChangeBytes(valueBytes, name.length);
  }

  get isFull(): boolean {
    return this.#writes.length >= BATCH_RECORDS || this.#bytes >= BATCH_BYTES;
  }

  get needBytes(): number {
    return Math.min(this.#changeBytes, fileSize(this.tables).usedBytes + this.#furtherBytes);
  }

  write(): void {
    for (const write of this.#writes) write();
  }
}
