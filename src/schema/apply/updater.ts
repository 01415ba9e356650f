// The rules of ownership: what a change removes from other managers, what it may not, what an applier gives up.
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import type { JsonObject } from '../../machinery/object.js';
import { type Comparison, compareSteps } from './compare.js';
import { equalSteps } from './equal-steps.js';
import { FieldSet } from './field-set.js';
import { inPieces, unionSteps } from './field-set-steps.js';
import { identityOf, type Manager, type ManagerIdentity, managerOf, type Managers } from './managers.js';
import { mergeSteps } from './merge.js';
import { removeItemSteps } from './remove-items.js';
import { ensureNamedFieldsAreMembers, reconcileWithType } from './set-types.js';
import type { StructType } from '../type.js';
import { toFieldSetSteps } from './to-field-set.js';
import { atVersion, type VersionedObject, type Versions } from './versions.js';

/** So many managers are looked at in a few milliseconds: those with large sets take steps of their own. */
const FEW = 16;

export interface Conflict {
  readonly manager: Manager;
  readonly path: readonly string[];
}

/** Others own, with other values, what an applier wants to set. */
export class ConflictError extends Error {
  constructor(readonly conflicts: readonly Conflict[]) {
    super('apply conflict');
  }
}

export interface OwnershipContext {
  readonly versions: Versions;
  /** Fields nobody can own through this endpoint. */
  readonly reset: FieldSet;
}

export interface OwnedUpdate {
  readonly live: VersionedObject;
  readonly updated: VersionedObject;
  readonly managers: Managers;
  readonly updater: Omit<Manager, 'fields'>;
  readonly context: OwnershipContext;
  /** Fields that nobody comes to own. */
  readonly system: FieldSet;
}

/** The managers after a change, with the updater among them if it set anything. */
// hot: on every update. Mostly the updater owned before what it sets again, and its set stays the same one.
export function* ownUpdate({
  live,
  updated,
  managers,
  updater,
  context,
  system,
}: OwnedUpdate): StepGenerator<Managers> {
  const actor = identityOf(updater);
  const { remaining, comparison } = yield* change({
    before: live,
    after: updated,
    managers: yield* reconcile(live, managers, context),
    actor,
    force: true,
    context,
  });
  const { changed, removed } = comparison;
  const owned = changed.difference(system);
  const earlier = remaining.get(actor);
  if (earlier === undefined) {
    if (!owned.empty) remaining.set(actor, managerOf(updater, owned, updater.time));
    return remaining;
  }
  const lost = changed.intersection(system);
  const isKept = lost.empty && removed.empty;
  const kept = isKept
    ? earlier.fields
    : yield* inPieces(earlier.fields, (piece) => piece.difference(lost).difference(removed));
  const hasAll = !owned.isLarge && kept.includes(owned);
  const fields = hasAll ? kept : (yield* unionSteps(kept, owned)).orSame(managers.get(actor)?.fields);
  if (fields.empty) remaining.delete(actor);
  else remaining.set(actor, managerOf(updater, fields, owned.empty ? earlier.time : updater.time));
  return remaining;
}

export interface OwnedApply {
  readonly live: VersionedObject;
  readonly configuration: JsonObject;
  readonly managers: Managers;
  readonly applier: { readonly identity: string; readonly manager: ManagerIdentity };
  readonly force: boolean;
  readonly context: OwnershipContext;
}

/** `object` is undefined when the live object already is as the applier wants it. Throws ConflictError. */
export function* ownApply({
  live,
  configuration,
  managers,
  applier,
  force,
  context,
}: OwnedApply): StepGenerator<{ managers: Managers; object: JsonObject | undefined }> {
  const { identity } = applier;
  const reconciled = new Map(yield* reconcile(live, managers, context));
  const before = reconciled.get(identity);
  yield;
  const named = yield* toFieldSetSteps(configuration, live.type);
  const fields = named.recursiveDifference(context.reset);
  reconciled.set(identity, managerOf(applier.manager, fields, before?.time));
  yield;
  const value = (yield* mergeSteps(live.value, configuration, live.type)) as JsonObject;
  const merged: VersionedObject = { ...live, value };
  yield;
  const nothingLeft = before === undefined || speaksOfAll(fields, before, reconciled, live);
  const pruned = nothingLeft ? merged : yield* prune(merged, reconciled, before, context);
  yield;
  const { remaining } = yield* change({
    before: live,
    after: pruned,
    managers: reconciled,
    actor: identity,
    force,
    context,
  });
  yield;
  const isUnchanged = yield* equalSteps(live.value, pruned.value);
  return { managers: remaining, object: isUnchanged ? undefined : pruned.value };
}

/**
 * Nearly every apply comes again with the same fields, and removes none. Pruning by other versions may, as not all
 * of a version can be said in another; and large sets are left to the steps of pruning.
 */
function speaksOfAll(fields: FieldSet, before: Manager, managers: Managers, { apiVersion }: VersionedObject): boolean {
  for (const manager of managers.values()) if (manager.apiVersion !== apiVersion) return false;
  return before.apiVersion === apiVersion && !before.fields.isLarge && fields.includes(before.fields);
}

/**
 * A type's rules may have changed since a set was written; sets of versions that are gone go with them. Answers the same
 * managers where all is as it was.
 */
function* reconcile(
  live: VersionedObject,
  managers: Managers,
  { versions }: OwnershipContext,
): StepGenerator<Managers> {
  let reconciled: Managers | undefined;
  for (const [identity, manager] of managers) {
    const type = typeIn(live, manager.apiVersion, versions);
    const fields = type && reconcileWithType(manager.fields, type);
    if (fields !== manager.fields) {
      reconciled ??= new Map(managers);
      if (fields === undefined) reconciled.delete(identity);
      else reconciled.set(identity, managerOf(manager, fields, manager.time));
    }
    if (managers.size > FEW) yield;
  }
  return reconciled ?? managers;
}

/** A custom resource that does not fit a version in which others own fields cannot be changed by an apply. */
function typeIn(live: VersionedObject, apiVersion: string, versions: Versions): StructType | undefined {
  const isCustom = live.type.unstructured !== undefined;
  if (isCustom || live.apiVersion === apiVersion) return atVersion(live, apiVersion, versions)?.type;
  return versions.typeAt(apiVersion);
}

interface OwnedChange {
  readonly before: VersionedObject;
  readonly after: VersionedObject;
  readonly managers: Managers;
  /** Keeps what it has. */
  readonly actor: string;
  readonly force: boolean;
  readonly context: OwnershipContext;
}

function* change({
  before,
  after,
  managers,
  actor,
  force,
  context,
}: OwnedChange): StepGenerator<{ remaining: Managers; comparison: Comparison }> {
  const comparison = without(yield* compareSteps(before.value, after.value, before.type), context.reset);
  let otherVersions: Map<string, Comparison> | undefined;
  const remaining: Managers = new Map();
  const conflicts: Conflict[] = [];
  for (const [identity, manager] of managers) {
    if (identity === actor) {
      if (!manager.fields.empty) remaining.set(identity, manager);
      continue;
    }
    if (managers.size > FEW) yield;
    const { apiVersion, fields } = manager;
    let seen = apiVersion === before.apiVersion ? comparison : otherVersions?.get(apiVersion);
    if (seen === undefined) {
      const [old, current] = [
        atVersion(before, apiVersion, context.versions, 'failed to convert old object: '),
        atVersion(after, apiVersion, context.versions, 'failed to convert new object: '),
      ];
      if (old === undefined || current === undefined) continue;
      seen = without(yield* compareSteps(old.value, current.value, old.type), resetElsewhere(current.type, context));
      (otherVersions ??= new Map()).set(apiVersion, seen);
    }
    const { changed, removed } = seen;
    if (!force) {
      const lost = yield* inPieces(fields, (piece) => piece.intersection(changed));
      for (const path of lost.paths()) conflicts.push({ manager, path });
    }
    const kept = yield* inPieces(fields, (piece) => piece.difference(changed).difference(removed));
    if (!kept.empty) remaining.set(identity, kept === fields ? manager : managerOf(manager, kept, manager.time));
  }
  if (conflicts.length > 0) throw new ConflictError(conflicts);
  return { remaining, comparison };
}

/** A custom resource's endpoint resets fields of its own version alone. */
const resetElsewhere = (type: StructType, { reset }: OwnershipContext): FieldSet =>
  type.unstructured === undefined ? reset : new FieldSet();

const without = ({ changed, removed }: Comparison, reset: FieldSet): Comparison => ({
  changed: changed.recursiveDifference(reset),
  removed: removed.recursiveDifference(reset),
});

/** Removes what the applier owned before and does not apply any more, unless another manager owns it too. */
function* prune(
  merged: VersionedObject,
  managers: Managers,
  before: Manager,
  context: OwnershipContext,
): StepGenerator<VersionedObject> {
  const { versions } = context;
  if (before.fields.empty) return merged;
  const doing = 'failed to prune fields: failed to convert merged object to last applied version: ';
  const mergedThen = atVersion(merged, before.apiVersion, versions, doing);
  if (mergedThen === undefined) return merged;
  const all = ensureNamedFieldsAreMembers(before.fields, mergedThen.type);
  yield;
  const stripped = yield* withoutItems(mergedThen, all);
  yield;
  const kept = yield* addBackOwned(mergedThen, stripped, managers, versions);
  yield;
  const pruned = yield* addBackDangling(mergedThen, kept, before, versions);
  return atVersion(pruned, merged.apiVersion, versions, 'failed to prune fields: ') ?? merged;
}

function* withoutItems(object: VersionedObject, items: FieldSet): StepGenerator<VersionedObject> {
  return { ...object, value: (yield* removeItemSteps(object.value, items, object.type)) as JsonObject };
}

function* namedFields(object: VersionedObject): StepGenerator<FieldSet> {
  const fields = yield* toFieldSetSteps(object.value, object.type);
  yield;
  return ensureNamedFieldsAreMembers(fields, object.type);
}

const ADDING_BACK = 'failed to prune fields: failed add back';

function* addBackOwned(
  merged: VersionedObject,
  stripped: VersionedObject,
  managers: Managers,
  versions: Versions,
): StepGenerator<VersionedObject> {
  const owned = new Map<string, FieldSet>();
  // The version the fields were stripped in comes first, as fields missing there may be needed to convert.
  owned.set(merged.apiVersion, new FieldSet());
  for (const { apiVersion, fields } of managers.values()) {
    const others = owned.get(apiVersion);
    owned.set(apiVersion, others === undefined ? fields : yield* unionSteps(others, fields));
  }
  let [whole, pruned] = [merged, stripped];
  for (const [apiVersion, fields] of owned) {
    const doing = (what: string): string =>
      `${ADDING_BACK} owned items: failed to convert ${what} at version ${apiVersion}: `;
    const wholeThen = atVersion(whole, apiVersion, versions, doing('merged object'));
    const prunedThen = atVersion(pruned, apiVersion, versions, doing('pruned object'));
    if (wholeThen === undefined || prunedThen === undefined) continue;
    yield;
    const stays = yield* namedFields(prunedThen);
    yield;
    const keep = yield* unionSteps(stays, ensureNamedFieldsAreMembers(fields, wholeThen.type));
    whole = wholeThen;
    yield;
    const all = yield* namedFields(wholeThen);
    yield;
    const goes = yield* inPieces(all, (piece) => piece.difference(keep));
    pruned = yield* withoutItems(wholeThen, goes);
  }
  return pruned;
}

/** Items that vanished only because what contained them did, and that the applier never owned, come back. */
function* addBackDangling(
  merged: VersionedObject,
  pruned: VersionedObject,
  before: Manager,
  versions: Versions,
): StepGenerator<VersionedObject> {
  const doing = `${ADDING_BACK} dangling items: failed to convert pruned object to last applied version: `;
  const prunedThen = atVersion(pruned, before.apiVersion, versions, doing);
  if (prunedThen === undefined) return merged;
  const last = ensureNamedFieldsAreMembers(before.fields, merged.type);
  yield;
  const all = yield* namedFields(merged);
  yield;
  const stays = yield* namedFields(prunedThen);
  yield;
  const dangling = yield* inPieces(all, (piece) => piece.difference(stays).intersection(last));
  return yield* withoutItems(merged, dangling);
}
