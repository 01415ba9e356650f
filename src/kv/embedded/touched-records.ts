import { byteKeyIn } from './byte-key.js';
import { TABLE_NAMES, type TableName } from './engine.js';

/** Which records were written or removed, each once. */
export class TouchedRecords {
  size = 0;
  readonly #keys = new Map<TableName, Set<string>>(TABLE_NAMES.map((table) => [table, new Set()]));

  add(table: TableName, key: Buffer): void {
    const keys = this.#keys.get(table);
    const text = byteKeyIn(key);
    if (keys === undefined || keys.has(text)) return;
    keys.add(text);
    this.size++;
  }

  *[Symbol.iterator](): Iterator<readonly [table: TableName, key: string]> {
    for (const [table, keys] of this.#keys) for (const key of keys) yield [table, key];
  }
}
