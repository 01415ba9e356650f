// The managers of an object: who owns which fields, as `metadata.managedFields` says it.
import { ResumableWalk } from '../../lib/scheduling/resumable-walk.js';
import { sortItems } from '../../lib/values/sort-few.js';
import { sortSteps } from '../../lib/scheduling/sort-steps.js';
import { runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { JsonObject, ManagedFieldsEntry } from '../../machinery/object.js';
import { quoteJson } from '../json/quote.js';
import { goQuote } from '../../lib/go/quote.js';
import { FieldSet } from './field-set.js';
import { ManagedFieldsError } from './managed-fields-error.js';
import { compareText } from '../../lib/text/compare-text.js';

export interface ManagerIdentity {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource: string;
  /** Not part of who an applier is. */
  readonly apiVersion: string;
}

export interface Manager extends ManagerIdentity {
  readonly fields: FieldSet;
  readonly time: string | undefined;
}

/** Member by member, as all are made: one that is spread into another is of another shape to the engine, and slow to read. */
// hot: on every write, for every manager.
export const managerOf = (
  { manager, operation, subresource, apiVersion }: ManagerIdentity,
  fields: FieldSet,
  time: string | undefined,
): Manager => ({ manager, operation, subresource, apiVersion, fields, time });

/** By identity, as identityOf() writes it. */
export type Managers = Map<string, Manager>;

// hot: on every write, for every manager.
/** As JSON, which is what entries are ordered by. An applier is the same in every version; an updater is another one in each. */
export function identityOf({ manager, operation, subresource, apiVersion }: ManagerIdentity): string {
  let identity = manager === '' ? '{' : `{"manager":${quoteJson(manager)},`;
  identity += `"operation":"${operation}"`;
  if (operation !== 'Apply' && apiVersion !== '') identity += `,"apiVersion":${quoteJson(apiVersion)}`;
  return subresource === '' ? `${identity}}` : `${identity},"subresource":${quoteJson(subresource)}}`;
}

/** Throws ManagedFieldsError. */
export const decodeManagers = (entries: readonly ManagedFieldsEntry[] | null | undefined): Managers =>
  runSync(decodeManagerSteps(entries));

/** decodeManagers() in steps, for large sets. */
export function* decodeManagerSteps(
  entries: readonly ManagedFieldsEntry[] | null | undefined,
): StepGenerator<Managers> {
  const managers: Managers = new Map();
  // hot: a new object has none.
  if (entries === undefined || entries === null) return managers;
  const resumable = new ResumableWalk();
  for (let position = 0; position < entries.length; position++) {
    const entry = entries[position] as ManagedFieldsEntry;
    const { manager = '', operation, apiVersion = '', time, fieldsType = '', fieldsV1, subresource = '' } = entry;
    if (operation !== 'Apply' && operation !== 'Update')
      throw new ManagedFieldsError('operation must be `Apply` or `Update`');
    if (apiVersion === '') throw new ManagedFieldsError('apiVersion must not be empty');
    if (fieldsType === '') throw new ManagedFieldsError(`missing fieldsType in managed fields entry ${position}`);
    if (fieldsType !== 'FieldsV1') {
      throw new ManagedFieldsError(`invalid fieldsType ${goQuote(fieldsType)} in managed fields entry ${position}`);
    }
    const fields = FieldSet.decode(fieldsV1 ?? {}, resumable);
    if (resumable.hasDeferred) yield* resumable.resume();
    const decoded = managerOf({ manager, operation, apiVersion, subresource }, fields, time || undefined);
    managers.set(identityOf(decoded), decoded);
  }
  return managers;
}

/** Appliers first, then updaters, each by time; undefined when there are none, as the member is then absent. */
export const encodeManagers = (managers: Managers): ManagedFieldsEntry[] | undefined =>
  runSync(encodeManagerSteps(managers));

/** A client may send so many. */
const MANY = 1024;

/** encodeManagers() in steps, for large sets. */
export function* encodeManagerSteps(managers: Managers): StepGenerator<ManagedFieldsEntry[] | undefined> {
  if (managers.size === 0) return undefined;
  let all = [...managers.values()];
  if (all.length > MANY) all = yield* sortSteps(all, compareManagers);
  else sortItems(all, compareManagers);
  const resumable = new ResumableWalk();
  const entries: ManagedFieldsEntry[] = [];
  for (const manager of all) {
    entries.push(entryOf(manager, manager.fields.encodeShared(resumable)));
    if (resumable.hasDeferred) yield* resumable.resume();
  }
  return entries;
}

// hot: on every write, for every manager. Members are set one by one: spreading optional ones costs far more.
export function entryOf(
  { manager, operation, apiVersion, time, subresource }: Omit<Manager, 'fields'>,
  fieldsV1: JsonObject,
): ManagedFieldsEntry {
  const entry: { -readonly [Name in keyof ManagedFieldsEntry]: ManagedFieldsEntry[Name] } = {};
  if (manager !== '') entry.manager = manager;
  entry.operation = operation;
  entry.apiVersion = apiVersion;
  if (time !== undefined) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = fieldsV1;
  if (subresource !== '') entry.subresource = subresource;
  return entry;
}

/** `[]` and `[{}]` reset all managers. Look at the object as it was sent: its normal form has no `[]`. */
export function isManagedFieldsReset(entries: unknown): boolean {
  if (!Array.isArray(entries) || entries.length > 1) return false;
  return entries.every((entry) => typeof entry === 'object' && entry !== null && Object.keys(entry).length === 0);
}

/** As texts, for all are to the second in UTC. None is as early as times begin to be counted. */
export const compareTimes = (left = '1970-01-01T00:00:00Z', right = '1970-01-01T00:00:00Z'): number =>
  compareText(left, right);

function compareManagers(left: Manager, right: Manager): number {
  return (
    compareText(left.operation, right.operation) ||
    compareTimes(left.time, right.time) ||
    compareText(left.manager, right.manager) ||
    compareText(left.apiVersion, right.apiVersion) ||
    compareText(left.subresource, right.subresource)
  );
}
