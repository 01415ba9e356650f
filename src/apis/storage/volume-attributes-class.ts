import { deepEqual } from '../../lib/values/deep-equal.js';
import { type FieldErrors, FieldPath, forbidden, required } from '../../machinery/field-error.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import { deprecated } from '../../registry/deprecated-version.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { VolumeAttributesClass } from '../../schema/generated/storage.v1.js';
import { validateParameters, validateProvisioner } from './class-rules.js';

const V1 = 'storage.k8s.io/v1 VolumeAttributesClass';

export const volumeAttributesClasses: KindDefinition<VolumeAttributesClass> = {
  group: 'storage.k8s.io',
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  singular: 'volumeattributesclass',
  shortNames: ['vac'],
  namespaced: false,
  versions: [
    { version: 'v1' },
    {
      version: 'v1beta1',
      enabledByDefault: false,
      ...deprecated('storage.k8s.io/v1beta1 VolumeAttributesClass', { in: '1.34', removedIn: '1.37', use: V1 }),
    },
    {
      version: 'v1alpha1',
      enabledByDefault: false,
      ...deprecated('storage.k8s.io/v1alpha1 VolumeAttributesClass', { in: '1.32', removedIn: '1.35', use: V1 }),
    },
  ],
  // A server of the release before must be able to read what this one wrote.
  storageVersion: 'v1beta1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    validate: validateAttributesClass,
    validateUpdate: (object, old, _context, { whole, change }) => [
      ...whole,
      ...validateAttributesClass(object),
      ...change,
      ...validateAttributesClassUpdate(object, old),
      ...whole,
      ...validateAttributesClass(object),
    ],
    delete: { returnsObject: true },
  },
  table: {
    columns: [NAME_COLUMN, column('DriverName', 'The driver that applies the attributes.'), AGE_COLUMN],
    row: (object, now) => [object.metadata.name ?? '', object.driverName, ageCell(object, now)],
  },
};

function validateAttributesClass(object: Readonly<VolumeAttributesClass>): FieldErrors {
  const path = FieldPath.of('parameters');
  const errors = [
    ...validateProvisioner(object.driverName, FieldPath.of('driverName')),
    ...validateParameters(object.parameters, path),
  ];
  if (Object.keys(object.parameters ?? {}).length === 0) {
    errors.push(required(path, 'must contain at least one key/value pair'));
  }
  return errors;
}

function validateAttributesClassUpdate(
  object: Readonly<VolumeAttributesClass>,
  old: Readonly<VolumeAttributesClass>,
): FieldErrors {
  return (['driverName', 'parameters'] as const)
    .filter((member) => !deepEqual(object[member], old[member]))
    .map((member) => forbidden(FieldPath.of(member), `updates to ${member} are forbidden.`));
}
