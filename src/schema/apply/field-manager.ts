// Keeping `metadata.managedFields` through creates, updates and patches that are not applies.
import { boundedMemo } from '../../lib/values/bounded-memo.js';
import { runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../../machinery/object.js';
import { timeOf } from '../../machinery/time.js';
import type { StructType } from '../type.js';
import { fieldsOfAlike, memoizeFields } from './field-set-cache.js';
import { capManagers, MAX_UPDATE_MANAGERS } from './cap-managers.js';
import { equalSteps } from './equal-steps.js';
import { FieldSet } from './field-set.js';
import { ManagedFieldsError } from './managed-fields-error.js';
import {
  decodeManagerSteps,
  encodeManagerSteps,
  entryOf,
  isManagedFieldsReset,
  type Manager,
  type Managers,
} from './managers.js';
import { newFieldSteps } from './new-fields.js';
import { fieldElement } from './path-element.js';
import { TypedValueError } from './shape.js';
import { ownUpdate } from './updater.js';
import { validateTypedObject } from './validate.js';
import { OtherVersionError, singleVersion, UnconvertedError, type VersionedObject, type Versions } from './versions.js';
import { zeroOf } from './zero.js';

/** Who writes what kind, where and when. */
export interface Write {
  /** The kind's type in `apiVersion`. */
  readonly type: StructType;
  /** The request's version; objects are passed in it. */
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
  /** newObject is small, so that it may be held against others. */
  readonly small?: boolean;
}

/** Sets newObject's managedFields. What cannot be compared loses them, as ownership would be wrong from there on. */
// hot: on every write.
export const updateManagedFields = <T extends KubeObject>(write: UpdateWrite<T>): void =>
  runSync(managedFieldSteps(write));

/** updateManagedFields() in steps, for large objects. */
export function* managedFieldSteps<T extends KubeObject>(write: UpdateWrite<T>): StepGenerator<void> {
  const { live, newObject, type, manager: name } = write;
  const sent = newObject.metadata.managedFields;
  const stored = live?.metadata.managedFields;
  // One and the same list is no difference between the objects.
  setManagedFields(newObject, stored);
  // Writes that change nothing are the most common of all, from those who write what they want again and again. They leave
  // everybody's fields as they are.
  const isSame = live !== undefined && mayStay(write) && (yield* equalSteps(newObject, live));
  if (isSame && areOfOneVersion(stored, write) && (sent === undefined || (yield* equalSteps(sent, stored)))) {
    setManagedFields(newObject, stored && [...stored]);
    return;
  }
  const managers = yield* startingManagers(write, sent);
  let entries: ManagedFieldsEntry[] | undefined;
  // An object that was never tracked stays so until its first apply; what is one value has no fields to own.
  if ((live === undefined || managers.size > 0) && type.mapType !== 'atomic') {
    try {
      if (type.unstructured !== undefined) checkTyped(write);
      if (live === undefined && managers.size === 0) entries = yield* firstEntries(write);
      else {
        const change = { before: live ?? zeroOf(type), updated: newObject, managers, name };
        entries = yield* encodeManagerSteps(yield* trackUpdate(write, change));
      }
    } catch (error) {
      if (!UNTRACKABLE.some((kind) => error instanceof kind)) throw error;
    }
  }
  setManagedFields(newObject, entries);
}

function setManagedFields({ metadata }: KubeObject, entries: ManagedFieldsEntry[] | undefined): void {
  if (entries !== undefined) metadata.managedFields = entries;
  else if (metadata.managedFields !== undefined) delete metadata.managedFields;
}

/** What an endpoint does not change of a custom resource need not fit its schema, but is looked at before that is known. */
function checkTyped<T extends KubeObject>({ live, newObject, type }: UpdateWrite<T>): void {
  validateTypedObject(newObject, type);
  if (live !== undefined) validateTypedObject(live, type);
}

const UNTRACKABLE = [TypedValueError, UnconvertedError, OtherVersionError];

/** What a CRD says of a custom resource's fields may have changed since they were written. */
const mayStay = ({ reset, type }: Write & { readonly reset?: boolean }): boolean =>
  reset !== true && type.unstructured === undefined;

/** What is of another version may be gone. */
const areOfOneVersion = (entries: readonly ManagedFieldsEntry[] | undefined, { apiVersion }: Write): boolean =>
  entries === undefined || (!hasTwins(entries) && entries.every((entry) => entry.apiVersion === apiVersion));

/** A scale may leave two entries of one manager, of which whoever reads them keeps the last. */
function hasTwins(entries: readonly ManagedFieldsEntry[]): boolean {
  if (entries.length < 2) return false;
  const names = new Set(
    entries.map(({ manager = '', operation, subresource = '' }) => [manager, operation, subresource].join('\n')),
  );
  return names.size < entries.length;
}

/** The writer of a new object is its only manager. */
function* firstEntries<T extends KubeObject>(write: UpdateWrite<T>): StepGenerator<ManagedFieldsEntry[] | undefined> {
  const fieldsV1 = yield* firstFields(write);
  return fieldsV1 && [entryOf(updater(write, write.manager), fieldsV1)];
}

function* firstFields<T extends KubeObject>(write: UpdateWrite<T>): StepGenerator<JsonObject | undefined> {
  const { newObject, type, small = false } = write;
  const { reset } = ownershipContext(write);
  const known = small ? fieldsOfAlike(newObject, type, reset) : undefined;
  if (known !== undefined) return known;
  const fields = yield* newFieldSteps(newObject, type, { system: SYSTEM_FIELDS, reset });
  if (small && fields !== undefined) memoizeFields(newObject, type, reset, fields);
  return fields;
}

export interface TrackedUpdate {
  readonly before: Readonly<JsonObject>;
  readonly updated: JsonObject;
  readonly managers: Managers;
  readonly name: string;
}

/** The managers after `updated` took the place of `before`, with the writer among them if anything changed. */
export function* trackUpdate(
  write: Write,
  { before, updated, managers, name }: TrackedUpdate,
): StepGenerator<Managers> {
  const tracked = yield* ownUpdate({
    live: versioned(write, before),
    updated: versioned(write, updated),
    managers,
    updater: updater(write, name),
    context: ownershipContext(write),
    system: SYSTEM_FIELDS,
  });
  return tracked.size > MAX_UPDATE_MANAGERS ? yield* capManagers(tracked) : tracked;
}

const updater = ({ apiVersion, subresource, time }: Write, name: string): Omit<Manager, 'fields'> => ({
  manager: name === '' ? 'unknown' : name,
  operation: 'Update',
  apiVersion,
  subresource,
  time: timeOf(time),
});

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
  reset: resetFields === undefined ? NO_FIELDS : resetSet(resetFields),
});

const NO_FIELDS = new FieldSet();

/** A kind names the same fields with every write. */
function resetSet(paths: readonly (readonly string[])[]): FieldSet {
  let set = resetSets.get(paths);
  if (set === undefined) {
    set = FieldSet.of(...paths.map((path) => path.map(fieldElement)));
    resetSets.set(paths, set);
  }
  return set;
}

const resetSets = new WeakMap<readonly (readonly string[])[], FieldSet>();

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

/** What the client sent counts, unless it is broken or empty; through a subresource only what is stored counts. */
function* startingManagers<T extends KubeObject>(
  { live, subresource, reset }: UpdateWrite<T>,
  sent: readonly ManagedFieldsEntry[] | undefined,
): StepGenerator<Managers> {
  const stored = live?.metadata.managedFields;
  const isSent = subresource === '' && sent !== undefined && sent !== stored;
  if (subresource === '' && (reset === true || isManagedFieldsReset(sent))) return new Map();
  for (const entries of isSent ? [sent, stored] : [stored]) {
    try {
      const managers = yield* decodeManagerSteps(entries);
      if (managers.size > 0) return managers;
    } catch (error) {
      if (!(error instanceof ManagedFieldsError)) throw error;
    }
  }
  return new Map();
}

const MANAGER_MAX_BYTES = 128;

/** Programs that write are few; what their names are is worked out once. */
const MAX_MEMOIZED = 256;
const MAX_MEMOIZED_LENGTH = 256;
const memoizedManager = boundedMemo(MAX_MEMOIZED, readManager);

/** The part of a user agent before the slash, printable and not too long. */
export const managerFromUserAgent = (userAgent: string): string =>
  userAgent.length <= MAX_MEMOIZED_LENGTH ? memoizedManager(userAgent) : readManager(userAgent);

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

/** A write that would change only the times of its writers is no write: restores the old times in `object`. */
export function* keepUnchangedTimes(object: KubeObject, old: Readonly<KubeObject>): StepGenerator<void> {
  const [entries, oldEntries] = [object.metadata.managedFields ?? [], old.metadata.managedFields ?? []];
  if (entries.length !== oldEntries.length || entries.length === 0) return;
  if (haveSameTimes(entries, oldEntries)) return;
  // hot: almost always something has changed, which is sooner seen in the object than in who owns what of it.
  object.metadata.managedFields = oldEntries;
  const isSame = yield* equalSteps(object, old);
  object.metadata.managedFields = entries;
  if (!isSame) return;
  const kept = entries.map((entry, position) => {
    const { time: _, ...rest } = entry;
    const time = oldEntries[position]?.time;
    return time === undefined ? rest : { ...rest, time };
  });
  if (yield* equalSteps(kept, oldEntries)) object.metadata.managedFields = [...oldEntries];
}

function haveSameTimes(entries: readonly ManagedFieldsEntry[], others: readonly ManagedFieldsEntry[]): boolean {
  for (let at = 0; at < entries.length; at++) if (entries[at]?.time !== others[at]?.time) return false;
  return true;
}
