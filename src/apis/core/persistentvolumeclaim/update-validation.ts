import { append } from '../../../lib/values/append.js';
import { deepEqual } from '../../../lib/values/deep-equal.js';
import {
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  plainNotSupported,
} from '../../../machinery/field-error.js';
import { withExplicitEmptyOf } from '../../../machinery/explicit-empty.js';
import { compareQuantities } from '../../../machinery/quantity.js';
import { IMMUTABLE, invalidEach, validateImmutableName } from '../../../machinery/validation/fields.js';
import { selectorHasInvalidLabelValue } from '../../../machinery/validation/label-selector.js';
import { isQualifiedName } from '../../../machinery/validation/names.js';
import type { FeatureGates, MetadataErrors } from '../../../registry/kind.js';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../../schema/generated/core.v1.js';
import { internalDiff } from '../internal-form/diff.js';
import { isNativeResource } from '../pod/validation/resource-names.js';
import { validateResourceQuantity } from '../pod/validation/resources.js';
import { validateStorageAmount } from '../shared/resource-list.js';
import { BETA_STORAGE_CLASS } from '../shared/volume-rules.js';
import { sortedKeys } from '../shared/key-values.js';
import { type ClaimSpecOptions, validateClaimSpec } from './validation.js';

const SPEC = FieldPath.of('spec');
const STORAGE_REQUEST = SPEC.child('resources', 'requests', 'storage');
const ATTRIBUTES_CLASS = SPEC.child('volumeAttributesClassName');

/** What a stored claim already has stays allowed. */
export function optionsFor(features: FeatureGates, old?: Readonly<PersistentVolumeClaim>): ClaimSpecOptions {
  return {
    allowInvalidLabelValue: selectorHasInvalidLabelValue(old?.spec.selector),
    allowInvalidApiGroup:
      (old?.spec.dataSource?.apiGroup ?? null) !== null || (old?.spec.dataSourceRef?.apiGroup ?? null) !== null,
    volumeAttributesClass:
      features.enabled('VolumeAttributesClass') || old?.spec.volumeAttributesClassName !== undefined,
  };
}

export function validateClaimUpdate(
  object: Readonly<PersistentVolumeClaim>,
  old: Readonly<PersistentVolumeClaim>,
  features: FeatureGates,
  { whole, change }: MetadataErrors,
): FieldErrors {
  const options = optionsFor(features, old);
  const specErrors = validateClaimSpec(object.spec, SPEC, options);
  const errors = [...whole, ...specErrors, ...change, ...whole, ...specErrors];
  const { now, before, errors: classErrors } = comparableSpecs(object, old);
  append(errors, classErrors);
  if (!deepEqual(now, before)) {
    const diff = internalDiff('PersistentVolumeClaimSpec', before, now);
    const why = `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${diff}`;
    errors.push(forbidden(SPEC, why));
  }
  append(
    errors,
    validateShrinking(object, old, features),
    validateImmutableName(object.spec.volumeMode, old.spec.volumeMode, FieldPath.of('volumeMode')),
    validateAttributesClass(object, old, options, features),
  );
  return errors;
}

export function validateClaimStatus(
  object: Readonly<PersistentVolumeClaim>,
  old: Readonly<PersistentVolumeClaim>,
  features: FeatureGates,
): FieldErrors {
  const { status } = object;
  const errors: FieldErrors = [];
  if ((object.spec.accessModes ?? []).length === 0) errors.push(required(FieldPath.of('Spec', 'accessModes')));
  for (const name of sortedKeys(status.capacity)) {
    const at = FieldPath.of('status', 'capacity').key(name);
    append(errors, validateStorageAmount(status.capacity?.[name] ?? '0', at));
  }
  if (recoversFromExpansion(features, old)) append(errors, validateResize(object));
  return errors;
}

/**
 * The two specs without what may differ: the volume a claim is bound to, once; the request and attributes class of a
 * bound claim; a storage class that was unset or moves from the old annotation into its field.
 */
function comparableSpecs(object: Readonly<PersistentVolumeClaim>, old: Readonly<PersistentVolumeClaim>) {
  const now: PersistentVolumeClaimSpec = withExplicitEmptyOf(object.spec, { ...object.spec });
  const before: PersistentVolumeClaimSpec = { ...old.spec };
  const errors: FieldErrors = [];
  if (!before.volumeName) copyMember(before, now, 'volumeName');
  const annotation = old.metadata.annotations?.[BETA_STORAGE_CLASS];
  const newAnnotation = object.metadata.annotations?.[BETA_STORAGE_CLASS];
  const wasUnset = before.storageClassName === undefined && now.storageClassName !== undefined;
  const matches = now.storageClassName === annotation;
  if (annotation !== undefined && wasUnset && matches && (newAnnotation ?? annotation) === annotation) {
    delete now.storageClassName;
  } else {
    if ((annotation ?? '') !== (newAnnotation ?? '')) {
      const path = FieldPath.of('metadata', 'annotations', BETA_STORAGE_CLASS);
      errors.push(invalid(path, newAnnotation ?? '', IMMUTABLE));
    }
    if (wasUnset && (annotation === undefined || matches)) delete now.storageClassName;
  }
  if (object.status.phase === 'Bound') {
    const storage = before.resources.requests?.['storage'];
    if (now.resources.requests !== undefined && storage !== undefined) {
      now.resources = { ...now.resources, requests: { ...now.resources.requests, storage } };
    }
    copyMember(now, before, 'volumeAttributesClassName');
  }
  return { now, before, errors };
}

function copyMember(
  to: PersistentVolumeClaimSpec,
  from: Readonly<PersistentVolumeClaimSpec>,
  member: 'volumeName' | 'volumeAttributesClassName',
): void {
  const value = from[member];
  if (value === undefined) delete to[member];
  else to[member] = value;
}

/** A request may shrink to above what the volume has, to get out of an expansion that cannot succeed. */
function validateShrinking(
  object: Readonly<PersistentVolumeClaim>,
  old: Readonly<PersistentVolumeClaim>,
  features: FeatureGates,
): FieldErrors {
  const size = object.spec.resources.requests?.['storage'] ?? '0';
  if (compareQuantities(size, old.spec.resources.requests?.['storage'] ?? '0') >= 0) return [];
  if (!recoversFromExpansion(features, old)) {
    return [forbidden(STORAGE_REQUEST, 'field can not be less than previous value')];
  }
  if (compareQuantities(size, old.status.capacity?.['storage'] ?? '0') > 0) return [];
  return [forbidden(STORAGE_REQUEST, 'field can not be less than status.capacity')];
}

function validateAttributesClass(
  object: Readonly<PersistentVolumeClaim>,
  old: Readonly<PersistentVolumeClaim>,
  options: ClaimSpecOptions,
  features: FeatureGates,
): FieldErrors {
  const name = object.spec.volumeAttributesClassName;
  if (name === old.spec.volumeAttributesClassName) return [];
  const errors: FieldErrors = [];
  if (!features.enabled('VolumeAttributesClass')) {
    const why = 'update is forbidden when the VolumeAttributesClass feature gate is disabled';
    errors.push(forbidden(ATTRIBUTES_CLASS, why));
  }
  if (options.volumeAttributesClass && old.status.currentVolumeAttributesClassName !== undefined && !name) {
    const to = name === undefined ? 'nil' : 'empty string';
    const why = `update to ${to} is forbidden when status.currentVolumeAttributesClassName is not nil`;
    errors.push(forbidden(ATTRIBUTES_CLASS, why));
  }
  return errors;
}

const recoversFromExpansion = (features: FeatureGates, old: Readonly<PersistentVolumeClaim>): boolean =>
  features.enabled('RecoverVolumeExpansionFailure') ||
  old.status.allocatedResources !== undefined ||
  old.status.allocatedResourceStatuses !== undefined;

const RESIZE_STATUSES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

function validateResize({ status }: Readonly<PersistentVolumeClaim>): FieldErrors {
  const errors: FieldErrors = [];
  const statuses = FieldPath.of('status', 'allocatedResourceStatuses');
  for (const name of sortedKeys(status.allocatedResourceStatuses)) {
    append(errors, validateResourceKey(name, statuses));
    if (!RESIZE_STATUSES.includes(status.allocatedResourceStatuses?.[name] ?? '')) {
      errors.push(notSupported(statuses, name, RESIZE_STATUSES));
    }
  }
  const allocated = FieldPath.of('status', 'allocatedResources');
  for (const name of sortedKeys(status.allocatedResources)) {
    const keyErrors = validateResourceKey(name, allocated);
    append(errors, keyErrors);
    if (keyErrors.length > 0) continue;
    const quantity = status.allocatedResources?.[name] ?? '0';
    const amountErrors = validateStorageAmount(quantity, allocated.key(name));
    append(
      errors,
      amountErrors.length > 0 ? amountErrors : validateResourceQuantity('storage', quantity, allocated.key(name)),
    );
  }
  return errors;
}

function validateResourceKey(name: string, path: FieldPath): FieldErrors {
  const errors = invalidEach(path, name, isQualifiedName(name));
  if (errors.length > 0) return errors;
  return isNativeResource(name) && name !== 'storage' ? [plainNotSupported(path, name, ['storage'])] : [];
}
