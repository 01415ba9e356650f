import { append } from '../../../lib/values/append.js';
import {
  type FieldErrors,
  type FieldPath,
  invalid,
  notSupported,
  required,
  Verbatim,
} from '../../../machinery/field-error.js';
import { invalidEach } from '../../../machinery/validation/fields.js';
import { validateLabelSelector } from '../../../machinery/validation/label-selector.js';
import { isDns1123Label, isDns1123Subdomain } from '../../../machinery/validation/names.js';
import type { PersistentVolumeClaimSpec, TypedObjectReference } from '../../../schema/generated/core.v1.js';
import { validateResourceQuantity } from '../pod/validation/resources.js';
import { validatePositiveQuantity } from '../shared/resource-list.js';
import { validateAccessModes, VOLUME_MODES } from '../shared/volume-rules.js';

export interface ClaimSpecOptions {
  readonly allowInvalidLabelValue?: boolean;
  readonly allowInvalidApiGroup?: boolean;
  /** The VolumeAttributesClass gate; default on. */
  readonly volumeAttributesClass?: boolean;
}

/** The spec of a claim, also of one inside a template. */
export function validateClaimSpec(
  spec: Readonly<PersistentVolumeClaimSpec>,
  path: FieldPath,
  options: ClaimSpecOptions = {},
): FieldErrors {
  const errors: FieldErrors = [];
  if ((spec.accessModes ?? []).length === 0) {
    errors.push(required(path.child('accessModes'), 'at least 1 access mode is required'));
  }
  const selectorOptions = { allowInvalidLabelValue: options.allowInvalidLabelValue === true };
  append(
    errors,
    validateLabelSelector(spec.selector, selectorOptions, path.child('selector')),
    validateAccessModes(spec.accessModes, path.child('accessModes')),
    validateStorageRequest(spec, path.child('resources').key('storage')),
  );
  const className = spec.storageClassName;
  if (className) append(errors, invalidEach(path.child('storageClassName'), className, isDns1123Subdomain(className)));
  const mode = spec.volumeMode;
  if (mode !== undefined && !VOLUME_MODES.includes(mode)) {
    errors.push(notSupported(path.child('volumeMode'), mode, VOLUME_MODES));
  }
  append(errors, validateDataSources(spec, path, options.allowInvalidApiGroup === true));
  const attributes = spec.volumeAttributesClassName;
  if (attributes && options.volumeAttributesClass !== false) {
    const at = path.child('volumeAttributesClassName');
    append(errors, invalidEach(at, attributes, isDns1123Subdomain(attributes)));
  }
  return errors;
}

function validateStorageRequest({ resources }: Readonly<PersistentVolumeClaimSpec>, path: FieldPath): FieldErrors {
  const request = resources.requests?.['storage'];
  if (request === undefined) return [required(path)];
  const errors = validatePositiveQuantity(request, path);
  return errors.length > 0 ? errors : validateResourceQuantity('storage', request, path);
}

function validateDataSources(
  { dataSource, dataSourceRef }: Readonly<PersistentVolumeClaimSpec>,
  path: FieldPath,
  anyGroup: boolean,
): FieldErrors {
  const errors: FieldErrors = [];
  if (dataSource !== undefined) append(errors, validateDataSource(dataSource, path.child('dataSource'), anyGroup));
  if (dataSourceRef !== undefined) {
    append(errors, validateDataSource(dataSourceRef, path.child('dataSourceRef'), anyGroup));
  }
  if (dataSource === undefined || dataSourceRef === undefined) return errors;
  // kube-apiserver passes a path where the value belongs, which shows as an empty object.
  if (dataSourceRef.namespace) {
    errors.push(invalid(path, new Verbatim('{}'), 'may not be specified when dataSourceRef.namespace is specified'));
    return errors;
  }
  const same =
    (dataSource.apiGroup ?? null) === (dataSourceRef.apiGroup ?? null) &&
    dataSource.kind === dataSourceRef.kind &&
    dataSource.name === dataSourceRef.name;
  if (!same) errors.push(invalid(path, new Verbatim('{}'), 'must match dataSourceRef'));
  return errors;
}

function validateDataSource(source: Readonly<TypedObjectReference>, path: FieldPath, anyGroup: boolean): FieldErrors {
  const { apiGroup, kind, name, namespace } = source;
  const errors: FieldErrors = [];
  if (name === '') errors.push(required(path.child('name')));
  if (kind === '') errors.push(required(path.child('kind')));
  if (!apiGroup && kind !== 'PersistentVolumeClaim') {
    errors.push(invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  }
  if (apiGroup && !anyGroup)
    append(errors, invalidEach(path.child('apiGroup'), apiGroup, isDns1123Subdomain(apiGroup)));
  if (namespace) append(errors, invalidEach(path.child('namespace'), namespace, isDns1123Label(namespace)));
  return errors;
}
