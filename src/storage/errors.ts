// The key-value store's errors, in storage's words.
import { KvError } from '../kv/kv.js';
import { type ResourceStoreOptions, StorageError, type StoredValueFault } from './store.js';
import { unreadable, unreadableList } from './unreadable.js';

/** `options`: of the resource, where one object is read or written. */
export function storageError(error: unknown, options?: ResourceStoreOptions): unknown {
  if (!(error instanceof KvError)) return error;
  switch (error.code) {
    case 'compacted':
      return new StorageError('too-old', 'The resourceVersion for the provided list is too old.', {
        currentRevision: error.details.compactedRevision,
      });
    case 'future-revision':
      return new StorageError('too-new', error.message, { currentRevision: error.details.currentRevision });
    case 'too-large':
      return new StorageError('too-large', error.message);
    case 'disk-full':
      return new StorageError('no-space', error.message);
    case 'damaged':
      return damagedError(error, options);
    case 'unavailable':
    case 'closed':
    case 'locked':
    case 'newer-format':
    case 'denied':
      return new StorageError('unavailable', error.message);
  }
}

/** A damaged value is named as one that cannot be decoded is. */
function damagedError(error: KvError, options: ResourceStoreOptions | undefined): StorageError {
  const [record] = error.details.records ?? [];
  if (options === undefined || record === undefined) return new StorageError('corrupt', error.message);
  const key = record.key.slice(options.prefix.length);
  return unreadable(options, { key, revision: record.revision }, error);
}

/** Of a list. */
export function listError(error: unknown, options: ResourceStoreOptions): unknown {
  if (!(error instanceof KvError) || error.details.records === undefined) return storageError(error);
  const faults = error.details.records.map(({ key, revision }): StoredValueFault => {
    return { key: key.slice(options.prefix.length), revision, what: 'content', cause: error.message };
  });
  return unreadableList(options, faults);
}

/** Awaits the store and rethrows what it fails with in storage's words. */
export async function fromKv<T>(result: Promise<T>, options?: ResourceStoreOptions): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw storageError(error, options);
  }
}
