// For tests: ranges of ports and addresses, kept in memory.
import type { KubeObject } from '../../../machinery/object.js';
import { StorageError, type StoredObject } from '../../../storage/store.js';
import type { RangeStore } from './range-bitmap.js';

export class MemoryRanges implements RangeStore {
  readonly objects = new Map<string, StoredObject>();
  /** Called between reading and writing, as another server may come in between. */
  meanwhile = (): Promise<void> => Promise.resolve();

  get = async (key: string): Promise<StoredObject | undefined> => this.objects.get(key);
  create = (key: string, object: KubeObject): Promise<StoredObject> => this.put(key, object, 0);
  update = (key: string, revision: number, object: KubeObject): Promise<StoredObject> =>
    this.put(key, object, revision);

  private async put(key: string, object: KubeObject, expected: number): Promise<StoredObject> {
    await this.meanwhile();
    const revision = this.objects.get(key)?.revision ?? 0;
    if (revision !== expected) throw new StorageError('conflict', 'changed', {});
    const json = Buffer.alloc(0);
    const stored = { key, revision: revision + 1, json, size: 0, object: () => object, labels: {}, field: () => '' };
    this.objects.set(key, stored);
    return stored;
  }
}
