import { FieldPath } from '../../../machinery/field-error.js';
import { dropGatedFields, gated } from '../../../registry/gated-fields.js';
import type { KindDefinition } from '../../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, wideColumn } from '../../../registry/columns.js';
import type { PersistentVolumeClaim } from '../../../schema/generated/core.v1.js';
import { warningsForClaimSpec } from '../pod/warnings.js';
import { roundResources } from '../shared/resource-list.js';
import { accessModesCell, BETA_STORAGE_CLASS } from '../shared/volume-rules.js';
import { settleDataSources } from './data-source.js';
import { optionsFor, validateClaimStatus, validateClaimUpdate } from './update-validation.js';
import { validateClaimSpec } from './validation.js';

const GATED_STATUS = [
  gated<PersistentVolumeClaim>('VolumeAttributesClass', 'status.currentVolumeAttributesClassName'),
  gated<PersistentVolumeClaim>('VolumeAttributesClass', 'status.modifyVolumeStatus'),
  gated<PersistentVolumeClaim>('RecoverVolumeExpansionFailure', 'status.allocatedResources'),
  gated<PersistentVolumeClaim>('RecoverVolumeExpansionFailure', 'status.allocatedResourceStatuses'),
];
const SPEC = FieldPath.of('spec');

export const persistentVolumeClaims: KindDefinition<PersistentVolumeClaim> = {
  group: '',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  singular: 'persistentvolumeclaim',
  shortNames: ['pvc'],
  namespaced: true,
  versions: [{ version: 'v1', defaults: setDefaults }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    hasStatus: true,
    hasGeneration: false,
    prepareForCreate: (object, { features }) => {
      object.status = { phase: 'Pending' };
      settleDataSources(object.spec, undefined, features);
    },
    prepareForUpdate: (object, old, { features }) => settleDataSources(object.spec, old.spec, features),
    validate: (object, { features }) => validateClaimSpec(object.spec, SPEC, optionsFor(features)),
    validateUpdate: (object, old, { features }, metadata) => validateClaimUpdate(object, old, features, metadata),
    warningsOnCreate: claimWarnings,
    warningsOnUpdate: claimWarnings,
    status: {
      prepareForUpdate: (object, old, { features }) => dropGatedFields(GATED_STATUS, object, old, features),
      validateUpdate: (object, old, { features }) => validateClaimStatus(object, old, features),
    },
    delete: { returnsObject: true },
    resetFields: { '': [['status']], status: [['spec']] },
  },
  subresources: { status: { kind: 'PersistentVolumeClaim', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [
      NAME_COLUMN,
      column('Status', 'Whether a volume is bound to the claim.'),
      column('Volume', 'The volume bound to it.'),
      column('Capacity', 'The size of that volume.'),
      column('Access Modes', 'How the volume can be mounted.'),
      column('StorageClass', 'The class the volume is asked from.'),
      column('VolumeAttributesClass', 'The class of attributes asked for.'),
      AGE_COLUMN,
      wideColumn('VolumeMode', 'Whether it is a file system or a block device.'),
    ],
    row: (object, now) => {
      const { metadata, spec, status } = object;
      const bound = Boolean(spec.volumeName);
      return [
        metadata.name ?? '',
        metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
        spec.volumeName ?? '',
        bound ? (status.capacity?.['storage'] ?? '0') : '',
        bound ? accessModesCell(status.accessModes) : '',
        metadata.annotations?.[BETA_STORAGE_CLASS] ?? spec.storageClassName ?? '',
        spec.volumeAttributesClassName ?? '<unset>',
        ageCell(object, now),
        spec.volumeMode ?? '<unset>',
      ];
    },
  },
};

function setDefaults({ spec, status }: PersistentVolumeClaim): void {
  spec.volumeMode ??= 'Filesystem';
  status.phase ||= 'Pending';
  for (const list of [spec.resources.limits, spec.resources.requests, status.capacity, status.allocatedResources]) {
    roundResources(list);
  }
}

function claimWarnings({ metadata, spec }: Readonly<PersistentVolumeClaim>): string[] {
  const warnings: string[] = [];
  if (metadata.annotations?.[BETA_STORAGE_CLASS] !== undefined) {
    const path = FieldPath.of('metadata', 'annotations').key(BETA_STORAGE_CLASS).toString();
    warnings.push(`${path}: deprecated since v1.8; use "storageClassName" attribute instead`);
  }
  return [...warnings, ...warningsForClaimSpec(spec, SPEC)];
}
