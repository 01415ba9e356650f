// The errors for stored values that cannot be read: for a read of one object, of a list, and of a resource whose cache
// cannot be filled because of such a value.
import { errorText } from '../lib/text/error-text.js';
import { goQuote } from '../lib/go/quote.js';
import { type ResourceStoreOptions, StorageError, type StoredValueFault } from './store.js';

/** The most objects a list names; that there are more is said in one line. */
const MAX_NAMED = 100;
const TOO_MANY = 'too many errors, the list is truncated';

interface UnreadableValue {
  readonly key: string;
  /** Of the stored value. */
  readonly revision: number;
  /** What of it cannot be read; by default its content. */
  readonly what?: StoredValueFault['what'];
}

export function unreadable(
  options: ResourceStoreOptions,
  { key, revision, what = 'content' }: UnreadableValue,
  error: unknown,
): StorageError {
  const cause = errorText(error);
  const fault: StoredValueFault = { key, revision, what, cause };
  return new StorageError('corrupt', oneObject(options, fault), { fault });
}

export const faultOf = (error: unknown): StoredValueFault | undefined =>
  error instanceof StorageError && error.code === 'corrupt' ? error.details.fault : undefined;

/** Of a list that met these; the first one is enough unless unreadable objects may be deleted. */
export function unreadableList(options: ResourceStoreOptions, faults: readonly StoredValueFault[]): StorageError {
  const [first] = faults;
  if (first === undefined) throw new Error('a list without faults is readable');
  if (options.unsafeDeletion === undefined) {
    return new StorageError('corrupt', firstOfList(options, first), { fault: first });
  }
  const causes = faults.slice(0, MAX_NAMED).map((fault) => {
    const field = options.prefix + fault.key;
    return { field, message: corruptObject(field, fault) };
  });
  if (faults.length > MAX_NAMED) causes.push({ field: '', message: TOO_MANY });
  return new StorageError('unreadable-list', `failed to read one or more objects of ${options.prefix}`, {
    unreadable: causes,
    fault: first,
  });
}

/** Whether a list should go on to name further objects. */
export const namesMore = (options: ResourceStoreOptions, found: number): boolean =>
  options.unsafeDeletion !== undefined && found <= MAX_NAMED;

/** Of a resource whose cache waits for this object to become readable. */
export function stillInitializing(
  options: ResourceStoreOptions,
  failure: StorageError,
  downSeconds: number,
): StorageError {
  const fault = faultOf(failure) ?? failure.details.fault;
  const why =
    fault === undefined || options.unsafeDeletion !== undefined ? failure.message : firstOfList(options, fault);
  const text = `storage is (re)initializing: failed to list ${options.typeName ?? options.resource.resource}: ${why}`;
  return new StorageError('initializing', text, { fault, retryAfterSeconds: retryAfter(downSeconds) });
}

const RETRY_GROWTH = 0.06;
const MAX_RETRY_SECONDS = 30;

/** Longer the longer it lasts. */
const retryAfter = (downSeconds: number): number =>
  Math.trunc(Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.exp(RETRY_GROWTH * downSeconds))));

function oneObject({ prefix, unsafeDeletion }: ResourceStoreOptions, fault: StoredValueFault): string {
  if (unsafeDeletion !== undefined) return corruptObject((prefix + fault.key).slice(unsafeDeletion.root.length), fault);
  return fault.cause;
}

function firstOfList({ prefix }: ResourceStoreOptions, fault: StoredValueFault): string {
  return fault.what === 'encrypted'
    ? `unable to transform key ${goQuote(prefix + fault.key)}: ${fault.cause}`
    : fault.cause;
}

function corruptObject(key: string, { what, revision, cause }: StoredValueFault): string {
  const why =
    what === 'encrypted'
      ? 'data from the storage is not transformable revision=0'
      : `object not decodable revision=${revision}`;
  return `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}: ${cause}`;
}
