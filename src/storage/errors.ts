// The key-value store's errors, in storage's words.
import { KvError } from '../kv/kv.js';
import { StorageError } from './store.js';

export function storageError(error: unknown): unknown {
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
    case 'damaged':
      return new StorageError('corrupt', error.message);
    case 'unavailable':
    case 'closed':
    case 'locked':
    case 'newer-format':
    case 'disk-full':
    case 'denied':
      return new StorageError('unavailable', error.message);
  }
}

/** Awaits the store and rethrows what it fails with in storage's words. */
export async function fromKv<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw storageError(error);
  }
}
