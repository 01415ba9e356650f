// Writes to the tables, inside a commit. While a copy of the file is being made, they note which records they touch.
import type { TableName, Tables } from './engine.js';
import { TouchedRecords } from './touched-records.js';

/** Where the records of a commit are written to. */
export interface RecordWrites {
  put(table: TableName, key: Buffer, value: Buffer): void;
  remove(table: TableName, key: Buffer): void;
}

/** The promises of single operations always fulfil: the one of their commit rejects on failure. */
export class TableWrites implements RecordWrites {
  readonly #tables: Tables;
  #touched: TouchedRecords | undefined;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  // hot: several times for each write
  put(table: TableName, key: Buffer, value: Buffer): void {
    this.#touched?.add(table, key);
    void this.#tables[table].put(key, value);
  }

  // hot: several times for each write
  remove(table: TableName, key: Buffer): void {
    this.#touched?.add(table, key);
    void this.#tables[table].remove(key);
  }

  /** From now on, in place of what was noted before. Only while no commit runs. */
  startNoting(): TouchedRecords {
    this.#touched = new TouchedRecords();
    return this.#touched;
  }

  stopNoting(): void {
    this.#touched = undefined;
  }
}
