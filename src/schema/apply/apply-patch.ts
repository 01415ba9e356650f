// Server-side apply: one manager says all it wants of an object; what it wanted before and no longer says goes.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import { deepCopySteps } from '../deep-copy.js';
import { type JsonObject, type ManagedFieldsEntry, parseApiVersion } from '../../machinery/object.js';
import { badRequest, StatusError } from '../../machinery/status.js';
import { timeOf } from '../../machinery/time.js';
import type { StructType } from '../type.js';
import { conflictStatus } from './conflict-status.js';
import { fieldsFromLastApplied, KUBECTL, updateLastApplied } from './last-applied.js';
import { ownershipContext, SYSTEM_FIELDS, trackUpdate, versioned, type Write } from './field-manager.js';
import { ManagedFieldsError } from './managed-fields-error.js';
import { decodeManagerSteps, encodeManagerSteps, identityOf, managerOf, type Managers } from './managers.js';
import { TypedValueError } from './shape.js';
import { type Conflict, ConflictError, ownApply } from './updater.js';
import { validateTyped, validateTypedObject } from './validate.js';
import { OtherVersionError, withoutManagedFields } from './versions.js';
import { zeroOf } from './zero.js';

export interface ApplyWrite extends Write {
  readonly kind: string;
  /** Absent when the apply creates the object. Read only. */
  readonly live: Readonly<JsonObject> | undefined;
  /** The configuration, parsed; read only. */
  readonly patch: Readonly<JsonObject>;
  readonly force: boolean;
}

/**
 * The object as applied, with its managedFields, as plain JSON: not defaulted and not in normal form yet (lists
 * and maps that lost all they had are null). A new value throughout. Throws StatusError.
 */
export const applyPatch = (write: ApplyWrite): JsonObject => runSync(applySteps(write));

/** applyPatch() in steps, for large objects. */
export function* applySteps(write: ApplyWrite): StepGenerator<JsonObject> {
  checkPatch(write);
  yield;
  const { live, patch, manager, type, apiVersion, kind } = write;
  const before = live === undefined ? { ...zeroOf(type), apiVersion, kind } : withoutManagedFields(live);
  let managers = yield* decodeLive(live);
  if (managers.size === 0 && live !== undefined) {
    // What was there before the first apply belongs to a manager of its own, so that an apply over it conflicts.
    managers = yield* ownBeforeFirstApply(write, before);
  }
  yield;
  const { managers: owned, object } = yield* applyUnlessOthersOwn(write, before, managers);
  const result = yield* deepCopySteps(object ?? before);
  yield;
  if (manager === KUBECTL) updateLastApplied(result, patch);
  yield;
  setManagedFields(result, yield* encodeManagerSteps(owned));
  return result;
}

const BEFORE_FIRST_APPLY = 'before-first-apply';

function* ownBeforeFirstApply(write: ApplyWrite, before: JsonObject): StepGenerator<Managers> {
  try {
    if (write.type.unstructured !== undefined) validateTypedObject(before, write.type);
    return yield* trackUpdate(write, {
      before: zeroOf(write.type),
      updated: before,
      managers: new Map(),
      name: BEFORE_FIRST_APPLY,
    });
  } catch (error) {
    if (!(error instanceof TypedValueError)) throw error;
    const why = untypedReason(before, write.type) ?? error.message;
    throw unexplained(
      `failed to create manager for existing fields: failed to convert new object (${objectText(before)}) to smd typed: ${why}`,
    );
  }
}

/** Validation allows lists whose items apply cannot distinguish, and so an object may exist that no one can apply. */
function untypedReason(object: Readonly<JsonObject>, type: StructType): string | undefined {
  try {
    validateTypedObject(object, type);
    return undefined;
  } catch (error) {
    if (error instanceof TypedValueError) return error.message;
    throw error;
  }
}

function checkPatch({ patch, apiVersion, kind, type }: ApplyWrite): void {
  if (patch['apiVersion'] !== apiVersion || patch['kind'] !== kind) {
    throw badRequest(`invalid object type: ${kindText(patch)}`);
  }
  const metadata = patch['metadata'];
  if (isPlainObject(metadata) && Array.isArray(metadata['managedFields'])) {
    throw badRequest('metadata.managedFields must be nil');
  }
  try {
    validateTyped(patch, type);
  } catch (error) {
    if (!(error instanceof TypedValueError)) throw error;
    throw unexplained(`failed to create typed patch object (${objectText(patch)}): ${error.message}`);
  }
}

/** What the apply made does not fit its type: values that the shapes of apply leave open, as quantities and times. */
export const unfitApply = (patch: Readonly<JsonObject>, why: string): StatusError =>
  unexplained(
    `failed to convert new object (${objectText(patch)}) to proper version: unable to convert unstructured object to ${kindText(patch)}: ${why}`,
  );

/** Of what is applied and could not be brought into another form. */
export const unconvertibleApply = (patch: Readonly<JsonObject>, why: string): StatusError =>
  unexplained(`failed to convert to unversioned (${objectText(patch)}): ${why}`);

function objectText(patch: Readonly<JsonObject>): string {
  const metadata = isPlainObject(patch['metadata']) ? patch['metadata'] : {};
  return `${text(metadata['namespace'])}/${text(metadata['name'])}; ${kindText(patch)}`;
}

function kindText(patch: Readonly<JsonObject>): string {
  const apiVersion = text(patch['apiVersion']);
  // Of what is no version nothing is known.
  if (apiVersion.split('/').length > 2) return '/, Kind=';
  const { group, version } = parseApiVersion(apiVersion);
  return `${group}/${version}, Kind=${text(patch['kind'])}`;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** kube-apiserver has no reason for these. */
const unexplained = (message: string): StatusError => new StatusError(500, '', message);

function* decodeLive(live: Readonly<JsonObject> | undefined): StepGenerator<Managers> {
  const metadata = live?.['metadata'] as { managedFields?: ManagedFieldsEntry[] } | undefined;
  try {
    return yield* decodeManagerSteps(metadata?.managedFields);
  } catch (error) {
    if (!(error instanceof ManagedFieldsError)) throw error;
    throw unexplained(`failed to decode managed fields: ${error.message}`);
  }
}

function* applyUnlessOthersOwn(
  write: ApplyWrite,
  before: JsonObject,
  managers: Managers,
): StepGenerator<{ managers: Managers; object: JsonObject | undefined }> {
  const conflicts = yield* attempt(write, before, own(write, before, managers, write.force));
  if (!Array.isArray(conflicts)) return conflicts;
  if (write.manager === KUBECTL) {
    const allowed = fieldsFromLastApplied(before, write.type, write.apiVersion);
    if (allowed !== undefined) {
      const others = conflicts.filter(({ path }) => !allowed.has(path));
      if (others.length > 0) throw conflictStatus(others);
      return yield* own(write, before, managers, true);
    }
  }
  throw conflictStatus(conflicts);
}

function* attempt<T>(
  { type }: ApplyWrite,
  before: JsonObject,
  action: StepGenerator<T>,
): StepGenerator<T | Conflict[]> {
  try {
    return yield* action;
  } catch (error) {
    if (error instanceof ConflictError) return [...error.conflicts];
    if (!(error instanceof TypedValueError || error instanceof OtherVersionError)) throw error;
    const why = untypedReason(before, type);
    if (why !== undefined) throw unexplained(`failed to create typed live object (${objectText(before)}): ${why}`);
    throw unexplained(error instanceof OtherVersionError ? error.message : `failed to merge config: ${error.message}`);
  }
}

function* own(
  write: ApplyWrite,
  before: JsonObject,
  managers: Managers,
  force: boolean,
): StepGenerator<{ managers: Managers; object: JsonObject | undefined }> {
  const { apiVersion, subresource, time, patch } = write;
  const manager = { manager: write.manager || 'unknown', operation: 'Apply' as const, apiVersion, subresource };
  const identity = identityOf(manager);
  const live = versioned(write, before);
  if (write.type.unstructured !== undefined) validateTypedObject(before, write.type);
  const result = yield* ownApply({
    live,
    configuration: patch,
    managers,
    applier: { identity, manager },
    force,
    context: ownershipContext(write),
  });
  const mine = result.managers.get(identity);
  if (mine !== undefined) {
    const fields = mine.fields.difference(SYSTEM_FIELDS).orSame(managers.get(identity)?.fields);
    if (fields.empty) result.managers.delete(identity);
    // The time is that of the object's change, not of the apply.
    else result.managers.set(identity, managerOf(mine, fields, result.object === undefined ? mine.time : timeOf(time)));
  }
  return result;
}

function setManagedFields(object: JsonObject, entries: ManagedFieldsEntry[] | undefined): void {
  const metadata = isPlainObject(object['metadata']) ? object['metadata'] : {};
  object['metadata'] = metadata;
  if (entries === undefined) delete metadata['managedFields'];
  else metadata['managedFields'] = entries;
}
