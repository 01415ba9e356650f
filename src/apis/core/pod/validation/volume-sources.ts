// The kinds of volume a pod can have, in the order they are looked for.
import { append } from '../../../../lib/values/append.js';
import { isNegative } from './quantities.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
  plainNotSupported,
} from '../../../../machinery/field-error.js';
import { invalidEach } from '../../../../machinery/validation/fields.js';
import { isDns1123Subdomain, rangeMessage } from '../../../../machinery/validation/names.js';
import type {
  AzureDiskVolumeSource,
  CSIVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  HostPathVolumeSource,
  KeyToPath,
  QuobyteVolumeSource,
  StorageOSVolumeSource,
  Volume,
} from '../../../../schema/generated/core.v1.js';
import { validateClaimTemplate } from './claim-template.js';
import { validateDownwardVolume } from './downward-volume.js';
import { validateIscsi } from './iscsi.js';
import { validateDnsLabel } from './names.js';
import type { PodRules } from './pod-rules.js';
import { validateAbsolutePath, validateFileMode, validateLocalDescendingPath, validateNoBacksteps } from './paths.js';
import { validateKeyToPath } from './key-to-path.js';
import { validateProjectedVolume } from './projected-volume.js';
import { validatePullPolicy } from './pull-policy.js';

interface VolumeSourceRule {
  readonly member: Exclude<keyof Volume, 'name'>;
  /** The path's last step in errors of the source, and in the error about a second source, when not the member. */
  readonly path?: string;
  readonly shown?: string;
  readonly validate: (volume: Readonly<Volume>, path: FieldPath, rules: PodRules) => FieldErrors;
}

const source = <M extends VolumeSourceRule['member']>(
  member: M,
  validate: (source: NonNullable<Volume[M]>, path: FieldPath, rules: PodRules) => FieldErrors,
  names: { path?: string; shown?: string } = {},
): VolumeSourceRule => ({
  member,
  ...names,
  validate: (volume, path, rules) => {
    const value = volume[member];
    return value === undefined ? [] : validate(value, path, rules);
  },
});

const needs = (value: string | undefined, path: FieldPath, member: string): FieldErrors =>
  value ? [] : [required(path.child(member))];
const needsSome = (list: readonly unknown[] | null | undefined, path: FieldPath, member: string): FieldErrors =>
  list && list.length > 0 ? [] : [required(path.child(member))];
const needsSecretName = (reference: { name?: string } | undefined, path: FieldPath): FieldErrors =>
  reference === undefined ? [] : needs(reference.name, path.child('secretRef'), 'name');

function partition(value: number | undefined, path: FieldPath): FieldErrors {
  if (value === undefined || (value >= 0 && value <= 255)) return [];
  return [invalid(path.child('partition'), value, rangeMessage(1, 255))];
}

export const VOLUME_SOURCES: readonly VolumeSourceRule[] = [
  source('emptyDir', ({ sizeLimit }, path) =>
    isNegative(sizeLimit)
      ? [forbidden(path.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity')]
      : [],
  ),
  source('hostPath', validateHostPath),
  source('gitRepo', ({ repository, directory = '' }, path) => [
    ...needs(repository, path, 'repository'),
    ...validateLocalDescendingPath(directory, path.child('directory')),
  ]),
  source(
    'gcePersistentDisk',
    (disk, path) => [...needs(disk.pdName, path, 'pdName'), ...partition(disk.partition, path)],
    { path: 'persistentDisk' },
  ),
  source('awsElasticBlockStore', (disk, path) => [
    ...needs(disk.volumeID, path, 'volumeID'),
    ...partition(disk.partition, path),
  ]),
  source('secret', ({ secretName, defaultMode, items }, path) => [
    ...needs(secretName, path, 'secretName'),
    ...validateFileMode(defaultMode, path.child('defaultMode')),
    ...validateItems(items, path.child('items')),
  ]),
  source('nfs', ({ server, path: exported }, path) => [
    ...needs(server, path, 'server'),
    ...needs(exported, path, 'path'),
    ...validateAbsolutePath(exported, path.child('path')),
  ]),
  source('iscsi', validateIscsi),
  source('glusterfs', (gluster, path) => [
    ...needs(gluster.endpoints, path, 'endpoints'),
    ...needs(gluster.path, path, 'path'),
  ]),
  source('flocker', validateFlocker),
  source('persistentVolumeClaim', ({ claimName }, path) => needs(claimName, path, 'claimName')),
  source('rbd', ({ monitors, image }, path) => [
    ...needsSome(monitors, path, 'monitors'),
    ...needs(image, path, 'image'),
  ]),
  source('cinder', ({ volumeID, secretRef }, path) => [
    ...needs(volumeID, path, 'volumeID'),
    ...needsSecretName(secretRef, path),
  ]),
  source('cephfs', ({ monitors }, path) => needsSome(monitors, path, 'monitors'), { shown: 'cephFS' }),
  source('quobyte', validateQuobyte),
  source('downwardAPI', validateDownwardVolume, { shown: 'downwarAPI' }),
  source('fc', validateFibreChannel),
  source('flexVolume', validateFlexVolume),
  source('configMap', ({ name, defaultMode, items }, path) => [
    ...needs(name, path, 'name'),
    ...validateFileMode(defaultMode, path.child('defaultMode')),
    ...validateItems(items, path.child('items')),
  ]),
  source('azureFile', ({ secretName, shareName }, path) => [
    ...needs(secretName, path, 'secretName'),
    ...needs(shareName, path, 'shareName'),
  ]),
  source('vsphereVolume', ({ volumePath }, path) => needs(volumePath, path, 'volumePath')),
  source('photonPersistentDisk', ({ pdID }, path) => needs(pdID, path, 'pdID')),
  source('portworxVolume', ({ volumeID }, path) => needs(volumeID, path, 'volumeID')),
  source('azureDisk', validateAzureDisk),
  source('storageos', validateStorageOS),
  source('projected', validateProjectedVolume),
  source('scaleIO', ({ gateway, system, volumeName }, path) => [
    ...needs(gateway, path, 'gateway'),
    ...needs(system, path, 'system'),
    ...needs(volumeName, path, 'volumeName'),
  ]),
  source('csi', validateCsi),
  source('ephemeral', ({ volumeClaimTemplate }, path) =>
    volumeClaimTemplate
      ? validateClaimTemplate(volumeClaimTemplate, path.child('volumeClaimTemplate'))
      : [required(path.child('volumeClaimTemplate'))],
  ),
  source('image', ({ reference, pullPolicy }, path, { isPod }) => [
    ...(isPod ? needs(reference, path, 'reference') : []),
    ...validatePullPolicy(pullPolicy, path.child('pullPolicy')),
  ]),
];

/** Keys of a config map or secret and the files they become. */
function validateItems(items: readonly KeyToPath[] | undefined, path: FieldPath): FieldErrors {
  return (items ?? []).flatMap((item, position) => validateKeyToPath(item, path.index(position)));
}

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

export function validateHostPath({ path: target, type }: Readonly<HostPathVolumeSource>, path: FieldPath): FieldErrors {
  if (target === '') return [required(path.child('path'))];
  const errors = validateNoBacksteps(target, path.child('path'));
  if (type !== undefined && !HOST_PATH_TYPES.includes(type)) {
    errors.push(notSupported(path.child('type'), type, HOST_PATH_TYPES));
  }
  return errors;
}

export function validateFlocker(
  { datasetName = '', datasetUUID = '' }: Readonly<NonNullable<Volume['flocker']>>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (datasetName === '' && datasetUUID === '') {
    errors.push(required(path, 'one of datasetName and datasetUUID is required'));
  }
  if (datasetName !== '' && datasetUUID !== '') {
    errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'));
  }
  if (datasetName.includes('/')) {
    errors.push(invalid(path.child('datasetName'), datasetName, "must not contain '/'"));
  }
  return errors;
}

const HOST_PORTS = 'must be a host:port pair or multiple pairs separated by commas';
const HOST_PORT = /^([^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/;

export function validateQuobyte(
  { registry, tenant = '', volume }: Readonly<QuobyteVolumeSource>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (registry === '') errors.push(required(path.child('registry'), HOST_PORTS));
  else if (Buffer.byteLength(tenant) >= 65) {
    errors.push(required(path.child('tenant'), 'must be a UUID and may not exceed a length of 64 characters'));
  } else {
    for (const pair of registry.split(',')) {
      if (!HOST_PORT.test(pair)) errors.push(invalid(path.child('registry'), registry, HOST_PORTS));
    }
  }
  append(errors, needs(volume, path, 'volume'));
  return errors;
}

export function validateFibreChannel(
  { targetWWNs = [], wwids = [], lun }: Readonly<FCVolumeSource>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (targetWWNs.length === 0 && wwids.length === 0) {
    errors.push(required(path.child('targetWWNs'), 'must specify either targetWWNs or wwids, but not both'));
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    const why = 'targetWWNs and wwids can not be specified simultaneously';
    errors.push(invalid(path.child('targetWWNs'), targetWWNs, why));
  }
  if (targetWWNs.length > 0) {
    if (lun === undefined) errors.push(required(path.child('lun'), 'lun is required if targetWWNs is specified'));
    else if (lun < 0 || lun > 255) errors.push(invalid(path.child('lun'), lun, rangeMessage(0, 255)));
  }
  return errors;
}

export function validateFlexVolume({ driver, options = {} }: Readonly<FlexVolumeSource>, path: FieldPath): FieldErrors {
  const errors = needs(driver, path, 'driver');
  for (const key of Object.keys(options).sort()) {
    const slash = key.indexOf('/');
    const namespace = `.${(slash < 0 ? key : key.slice(0, slash)).toLowerCase()}`;
    if (namespace.endsWith('.kubernetes.io') || namespace.endsWith('.k8s.io')) {
      const why = 'kubernetes.io and k8s.io namespaces are reserved';
      errors.push(invalid(path.child('options').key(key), key, why));
    }
  }
  return errors;
}

const CACHING_MODES = ['None', 'ReadOnly', 'ReadWrite'];
const DISK_KINDS = ['Dedicated', 'Managed', 'Shared'];
const MANAGED_URI = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_URI = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export function validateAzureDisk(disk: Readonly<AzureDiskVolumeSource>, path: FieldPath): FieldErrors {
  const { cachingMode, kind, diskURI } = disk;
  const errors = [...needs(disk.diskName, path, 'diskName'), ...needs(diskURI, path, 'diskURI')];
  if (cachingMode !== undefined && !CACHING_MODES.includes(cachingMode)) {
    errors.push(notSupported(path.child('cachingMode'), cachingMode, CACHING_MODES));
  }
  if (kind === undefined) return errors;
  if (!DISK_KINDS.includes(kind)) errors.push(notSupported(path.child('kind'), kind, DISK_KINDS));
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/')) {
    errors.push(plainNotSupported(path.child('diskURI'), diskURI, [MANAGED_URI]));
  }
  if (kind !== 'Managed' && !diskURI.startsWith('https://')) {
    errors.push(plainNotSupported(path.child('diskURI'), diskURI, [BLOB_URI]));
  }
  return errors;
}

function validateStorageOS(
  { volumeName, volumeNamespace, secretRef }: Readonly<StorageOSVolumeSource>,
  path: FieldPath,
): FieldErrors {
  return [
    ...(volumeName ? validateDnsLabel(volumeName, path.child('volumeName')) : [required(path.child('volumeName'))]),
    ...(volumeNamespace ? validateDnsLabel(volumeNamespace, path.child('volumeNamespace')) : []),
    ...needsSecretName(secretRef, path),
  ];
}

function validateCsi({ driver, nodePublishSecretRef }: Readonly<CSIVolumeSource>, path: FieldPath): FieldErrors {
  const errors = validateCsiDriverName(driver, path.child('driver'));
  if (nodePublishSecretRef === undefined) return errors;
  const { name } = nodePublishSecretRef;
  if (!name) errors.push(required(path.child('nodePublishSecretRef', 'name')));
  else append(errors, invalidEach(path.child('name'), name, isDns1123Subdomain(name)));
  return errors;
}

export function validateCsiDriverName(driver: string, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (driver === '') errors.push(required(path));
  if (Buffer.byteLength(driver) > 63) errors.push(tooLong(path, 63));
  append(errors, invalidEach(path, driver, isDns1123Subdomain(driver.toLowerCase())));
  return errors;
}
