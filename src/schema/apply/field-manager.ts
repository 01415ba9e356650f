// Keeping `metadata.managedFields` through creates, updates and patches that are not applies.
import { remember } from '../../lib/remember.js';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../../machinery/object.js';
import { timeOf } from '../../machinery/time.js';
import type { StructType } from '../type.js';
import { capManagers } from './cap-managers.js';
import { FieldSet } from './field-set.js';
import { ManagedFieldsError } from './managed-fields-error.js';
import { decodeManagers, encodeManagers, identityOf, isManagedFieldsReset, type Managers } from './managers.js';
import { fieldElement } from './path-element.js';
import { TypedValueError, valuesEqual } from './shape.js';
import { ownUpdate } from './updater.js';
import { singleVersion, type VersionedObject, type Versions } from './versions.js';
import { zeroOf } from './zero.js';

/** Who writes what kind, where and when. */
export interface Write {
  /** The kind's type in `apiVersion`. */
  readonly type: StructType;
  /** The request's version; objects are given in it. */
  readonly apiVersion: string;
  /** `fieldManager`, or managerFromUserAgent(). */
  readonly manager: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Now. */
  readonly time: Date;
  /** Fields (paths of names) that cannot be owned through this endpoint. */
  readonly resetFields?: readonly (readonly string[])[];
  /** Needed for kinds with several versions; managers of versions it does not know are dropped. */
  readonly versions?: Versions;
}

export interface UpdateWrite<T extends KubeObject> extends Write {
  /** Absent on create. Read only. */
  readonly live: Readonly<T> | undefined;
  /** Belongs to the request: its managedFields are replaced. */
  readonly newObject: T;
  /** The object as sent had `managedFields: []` or `[{}]`, which its normal form may not show. */
  readonly reset?: boolean;
}

/** Sets newObject's managedFields. What cannot be compared loses them, as ownership would be wrong from there on. */
// hot: on every write.
export function updateManagedFields<T extends KubeObject>(write: UpdateWrite<T>): void {
  const { live, newObject } = write;
  const managers = startingManagers(write);
  delete newObject.metadata.managedFields;
  // An object that was never tracked stays so until its first apply.
  if (managers.size === 0 && live !== undefined) return;
  const before = live === undefined ? zeroOf(write.type) : withoutManagedFields(live);
  try {
    const owned = trackUpdate(write, before, newObject, managers, write.manager);
    const entries = encodeManagers(owned);
    if (entries !== undefined) newObject.metadata.managedFields = entries;
  } catch (error) {
    if (!(error instanceof TypedValueError)) throw error;
  }
}

/** The managers after `updated` took the place of `before`, with the writer among them if anything changed. */
export function trackUpdate(
  write: Write,
  before: Readonly<JsonObject>,
  updated: JsonObject,
  managers: Managers,
  name: string,
): Managers {
  const { managers: remaining, taken } = ownUpdate(
    versioned(write, before),
    versioned(write, updated),
    managers,
    ownershipContext(write),
  );
  const fields = taken.difference(SYSTEM_FIELDS);
  if (!fields.empty) {
    const { apiVersion, subresource, time } = write;
    const manager = name === '' ? 'unknown' : name;
    const identity = identityOf({ manager, operation: 'Update', apiVersion, subresource });
    const earlier = remaining.get(identity);
    const all = earlier === undefined ? fields : fields.union(earlier.fields);
    remaining.set(identity, {
      manager,
      operation: 'Update',
      apiVersion,
      subresource,
      time: timeOf(time),
      fields: all,
    });
  }
  return capManagers(remaining);
}

export const versioned = ({ apiVersion, type }: Write, value: JsonObject): VersionedObject => ({
  apiVersion,
  type,
  value,
});

export const ownershipContext = ({
  apiVersion,
  type,
  versions,
  resetFields,
}: Write): { versions: Versions; reset: FieldSet } => ({
  versions: versions ?? singleVersion(apiVersion, type),
  reset: resetFields === undefined ? NO_FIELDS : FieldSet.of(...resetFields.map((path) => path.map(fieldElement))),
});

const NO_FIELDS = new FieldSet();

/** Nobody owns what the server itself decides. */
export const SYSTEM_FIELDS = FieldSet.of(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', fieldElement(name)]),
);

export function withoutManagedFields(object: Readonly<JsonObject>): JsonObject {
  const { managedFields: _, ...metadata } = (object['metadata'] ?? {}) as JsonObject;
  return { ...object, metadata };
}

/** What the client sent counts, unless it is broken or empty; through a subresource only what is stored counts. */
function startingManagers<T extends KubeObject>({ live, newObject, subresource, reset }: UpdateWrite<T>): Managers {
  const stored = live?.metadata.managedFields;
  if (subresource !== '') return decodeOrNone(stored);
  const sent = newObject.metadata.managedFields;
  if (reset === true || isManagedFieldsReset(sent)) return new Map();
  if (sent === undefined || sent === stored) return decodeOrNone(stored);
  const decoded = decodeOrNone(sent);
  return decoded.size === 0 ? decodeOrNone(stored) : decoded;
}

function decodeOrNone(entries: readonly ManagedFieldsEntry[] | null | undefined): Managers {
  try {
    return decodeManagers(entries);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return new Map();
    throw error;
  }
}

const MANAGER_MAX_BYTES = 128;

/** Programs that write are few; what their names are is worked out once. */
const MOST_REMEMBERED = 256;
const LONGEST_REMEMBERED = 256;
const rememberedManager = remember(MOST_REMEMBERED, readManager);

/** The part of a user agent before the slash, printable and not too long. */
export const managerFromUserAgent = (userAgent: string): string =>
  userAgent.length <= LONGEST_REMEMBERED ? rememberedManager(userAgent) : readManager(userAgent);

function readManager(userAgent: string): string {
  let name = '';
  let bytes = 0;
  for (const char of (userAgent.split('/', 1)[0] as string).replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '')) {
    bytes += Buffer.byteLength(char);
    if (bytes > MANAGER_MAX_BYTES) break;
    name += char;
  }
  return name;
}

/** A write that would change only when someone wrote is no write: gives `object` its old times back. */
export function keepUnchangedTimes(object: KubeObject, old: Readonly<KubeObject>): void {
  const [entries, oldEntries] = [object.metadata.managedFields ?? [], old.metadata.managedFields ?? []];
  if (entries.length !== oldEntries.length || entries.length === 0) return;
  if (entries.every(({ time }, position) => time === oldEntries[position]?.time)) return;
  const kept = entries.map((entry, position) => {
    const { time: _, ...rest } = entry;
    const time = oldEntries[position]?.time;
    return time === undefined ? rest : { ...rest, time };
  });
  if (!valuesEqual(kept, oldEntries)) return;
  const unchanged = valuesEqual(withoutManagedFields(object), withoutManagedFields(old));
  if (unchanged) object.metadata.managedFields = [...oldEntries];
}
