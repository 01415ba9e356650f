import { append } from '../../../lib/values/append.js';
import { FieldPath } from '../../../machinery/field-error.js';
import { timeOf } from '../../../machinery/time.js';
import { dropGatedFields, gated } from '../../../registry/gated-fields.js';
import type { KindDefinition, LifeContext } from '../../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, wideColumn } from '../../../registry/columns.js';
import type { PersistentVolume } from '../../../schema/generated/core.v1.js';
import { nodeSelectorTermWarnings } from '../shared/node-label-warnings.js';
import { roundResources } from '../shared/resource-list.js';
import { accessModesCell, BETA_STORAGE_CLASS } from '../shared/volume-rules.js';
import { validateVolume, validateVolumeUpdate } from './validation.js';

export const persistentVolumes: KindDefinition<PersistentVolume> = {
  group: '',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  singular: 'persistentvolume',
  shortNames: ['pv'],
  namespaced: false,
  versions: [{ version: 'v1', defaults: setDefaults }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    hasStatus: true,
    hasGeneration: false,
    prepareForCreate: (object, context) => {
      object.status = { phase: 'Pending', lastPhaseTransitionTime: timeOf(context.now()) };
      dropGatedFields(GATED, object, undefined, context.features);
    },
    prepareForUpdate: (object, old, { features }) => dropGatedFields(GATED, object, old, features),
    validate: (object, { features }) => validateVolume(object, features),
    validateUpdate: (object, old, { features }, { whole }) => validateVolumeUpdate(object, old, features, whole),
    warningsOnCreate: volumeWarnings,
    warningsOnUpdate: volumeWarnings,
    status: { prepareForUpdate: notePhaseChange, validateUpdate: () => [] },
    delete: { returnsObject: true },
    resetFields: { '': [['status']], status: [['spec']] },
  },
  subresources: { status: { kind: 'PersistentVolume', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [
      NAME_COLUMN,
      column('Capacity', 'The size of the volume.'),
      column('Access Modes', 'How it can be mounted.'),
      column('Reclaim Policy', 'What becomes of it when its claim is gone.'),
      column('Status', 'Whether it is free, bound or released.'),
      column('Claim', 'The claim it is bound to.'),
      column('StorageClass', 'StorageClass of the pv'),
      column('VolumeAttributesClass', 'VolumeAttributesClass of the pv'),
      column('Reason', 'Why it failed, in one word.'),
      AGE_COLUMN,
      wideColumn('VolumeMode', 'Whether it is a file system or a block device.'),
    ],
    row: (object, now) => {
      const { metadata, spec, status } = object;
      return [
        metadata.name ?? '',
        spec.capacity?.['storage'] ?? '0',
        accessModesCell(spec.accessModes),
        spec.persistentVolumeReclaimPolicy ?? '',
        metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
        spec.claimRef === undefined ? '' : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`,
        metadata.annotations?.[BETA_STORAGE_CLASS] ?? spec.storageClassName ?? '',
        spec.volumeAttributesClassName ?? '<unset>',
        status.reason ?? '',
        ageCell(object, now),
        spec.volumeMode ?? '<unset>',
      ];
    },
  },
};

function setDefaults({ spec, status }: PersistentVolume): void {
  status.phase ||= 'Pending';
  spec.persistentVolumeReclaimPolicy ||= 'Retain';
  spec.volumeMode ??= 'Filesystem';
  roundResources(spec.capacity);
  if (spec.hostPath !== undefined) spec.hostPath.type ??= '';
  if (spec.iscsi !== undefined) spec.iscsi.iscsiInterface ||= 'default';
  if (spec.rbd !== undefined) {
    spec.rbd.pool ||= 'rbd';
    spec.rbd.user ||= 'admin';
    spec.rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (spec.azureDisk !== undefined) {
    spec.azureDisk.cachingMode ??= 'ReadWrite';
    spec.azureDisk.kind ??= 'Shared';
    spec.azureDisk.fsType ??= 'ext4';
    spec.azureDisk.readOnly ??= false;
  }
  if (spec.scaleIO !== undefined) {
    spec.scaleIO.storageMode ||= 'ThinProvisioned';
    spec.scaleIO.fsType ||= 'xfs';
  }
}

const GATED = [gated<PersistentVolume>('VolumeAttributesClass', 'spec.volumeAttributesClassName')];

/** The time of a phase's change is the server's to note, unless the client gives another. */
function notePhaseChange({ status }: PersistentVolume, old: Readonly<PersistentVolume>, context: LifeContext): void {
  const before = old.status.lastPhaseTransitionTime;
  const given = status.lastPhaseTransitionTime;
  if (status.phase === old.status.phase) {
    if (given === undefined && before !== undefined) status.lastPhaseTransitionTime = before;
  } else if (given === undefined || given === before) status.lastPhaseTransitionTime = timeOf(context.now());
}

const DEPRECATED_ANNOTATIONS: readonly (readonly [string, string])[] = [
  [BETA_STORAGE_CLASS, 'deprecated since v1.8; use "storageClassName" attribute instead'],
  ['volume.beta.kubernetes.io/mount-options', 'deprecated since v1.31; use "mountOptions" attribute instead'],
];

const DEPRECATED_SOURCES: readonly (readonly [keyof PersistentVolume['spec'], string, string])[] = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

function volumeWarnings({ metadata, spec }: Readonly<PersistentVolume>): string[] {
  const warnings: string[] = [];
  for (const [key, why] of DEPRECATED_ANNOTATIONS) {
    if (metadata.annotations?.[key] !== undefined) warnings.push(`metadata.annotations[${key}]: ${why}`);
  }
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    warnings.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    );
  }
  const terms = FieldPath.of('spec', 'nodeAffinity', 'required', 'nodeSelectorTerms');
  for (const [position, term] of (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).entries()) {
    append(warnings, nodeSelectorTermWarnings(term, false, terms.index(position)));
  }
  for (const [member, shown, why] of DEPRECATED_SOURCES) {
    if (spec[member] !== undefined) warnings.push(`spec.${shown}: ${why}`);
  }
  return warnings;
}
