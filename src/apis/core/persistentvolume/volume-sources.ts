// The kinds of storage a persistent volume can stand for, in the order they are looked at. Sources that pods can name
// as well share the pods' rules.
import { append } from '../../../lib/values/append.js';
import { type FieldErrors, type FieldPath, forbidden, invalid, required } from '../../../machinery/field-error.js';
import { invalidEach } from '../../../machinery/validation/fields.js';
import { isDns1123Label, isDns1123Subdomain, rangeMessage } from '../../../machinery/validation/names.js';
import type {
  CSIPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolumeSpec,
  SecretReference,
} from '../../../schema/generated/core.v1.js';
import { validateInitiator } from '../pod/validation/iscsi.js';
import { validateAbsolutePath, validateNoBacksteps } from '../pod/validation/paths.js';
import {
  validateAzureDisk,
  validateCsiDriverName,
  validateFibreChannel,
  validateFlexVolume,
  validateFlocker,
  validateHostPath,
  validateQuobyte,
} from '../pod/validation/volume-sources.js';

type Spec = Readonly<PersistentVolumeSpec>;

interface SourceRule {
  readonly member: keyof PersistentVolumeSpec;
  /** The path's step in the source's own errors, when not the member. */
  readonly path?: string;
  /** The path's step in the error about a second source, when not the member. */
  readonly shown?: string;
  /** False: a second source of this kind is not refused here. */
  readonly exclusive?: boolean;
  readonly validate: (spec: Spec, path: FieldPath, name: string) => FieldErrors;
}

export function validateVolumeSources(spec: Spec, name: string, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  let found = 0;
  for (const rule of SOURCES) {
    if (spec[rule.member] === undefined) continue;
    if (found > 0 && rule.exclusive !== false) {
      const at = path.child(rule.shown ?? rule.member);
      errors.push(forbidden(at, 'may not specify more than 1 volume type'));
      continue;
    }
    found++;
    append(errors, rule.validate(spec, path.child(rule.path ?? rule.member), name));
    if (rule.member === 'local' && spec.nodeAffinity === undefined) {
      errors.push(required(path.child('nodeAffinity'), 'Local volume requires node affinity'));
    }
  }
  if (found === 0) errors.push(required(path, 'must specify a volume type'));
  return errors;
}

const source = <M extends keyof PersistentVolumeSpec>(
  member: M,
  validate: (source: NonNullable<PersistentVolumeSpec[M]>, path: FieldPath, name: string) => FieldErrors,
  more: Pick<SourceRule, 'path' | 'shown' | 'exclusive'> = {},
): SourceRule => ({
  member,
  ...more,
  validate: (spec, path, name) => {
    const value = spec[member];
    return value === undefined ? [] : validate(value, path, name);
  },
});

const needs = (value: string | readonly unknown[] | null | undefined, path: FieldPath, member: string): FieldErrors =>
  value && value.length > 0 ? [] : [required(path.child(member))];

const partition = (value: number | undefined, path: FieldPath): FieldErrors =>
  value === undefined || (value >= 0 && value <= 255)
    ? []
    : [invalid(path.child('partition'), value, rangeMessage(1, 255))];

const secretIn = (reference: { name?: string; namespace?: string } | undefined, path: FieldPath): FieldErrors =>
  reference === undefined
    ? []
    : [
        ...needs(reference.name, path.child('secretRef'), 'name'),
        ...needs(reference.namespace, path.child('secretRef'), 'namespace'),
      ];

const SOURCES: readonly SourceRule[] = [
  source('hostPath', validateHostPath),
  source(
    'gcePersistentDisk',
    ({ pdName, partition: part }, path) => [...needs(pdName, path, 'pdName'), ...partition(part, path)],
    { path: 'persistentDisk' },
  ),
  source('awsElasticBlockStore', ({ volumeID, partition: part }, path) => [
    ...needs(volumeID, path, 'volumeID'),
    ...partition(part, path),
  ]),
  source('glusterfs', ({ endpoints, path: target, endpointsNamespace }, path) => [
    ...needs(endpoints, path, 'endpoints'),
    ...needs(target, path, 'path'),
    ...glusterNamespace(endpointsNamespace, path.child('endpointsNamespace')),
  ]),
  source('flocker', validateFlocker),
  source('nfs', ({ server, path: exported }, path) => [
    ...needs(server, path, 'server'),
    ...needs(exported, path, 'path'),
    ...validateAbsolutePath(exported, path.child('path')),
  ]),
  source('rbd', ({ monitors, image }, path) => [...needs(monitors, path, 'monitors'), ...needs(image, path, 'image')]),
  source('quobyte', validateQuobyte),
  source('cephfs', ({ monitors }, path) => needs(monitors, path, 'monitors'), { shown: 'cephFS' }),
  source('iscsi', validateIscsi),
  source('cinder', ({ volumeID, secretRef }, path) => [
    ...needs(volumeID, path, 'volumeID'),
    ...secretIn(secretRef, path),
  ]),
  source('fc', validateFibreChannel),
  source(
    'flexVolume',
    (flex, path) =>
      validateFlexVolume({ driver: flex.driver, ...(flex.options ? { options: flex.options } : {}) }, path),
    { exclusive: false },
  ),
  source('azureFile', ({ secretName, shareName, secretNamespace }, path) => [
    ...needs(secretName, path, 'secretName'),
    ...needs(shareName, path, 'shareName'),
    ...(secretNamespace === undefined ? [] : needs(secretNamespace, path, 'secretNamespace')),
  ]),
  source('vsphereVolume', ({ volumePath }, path) => needs(volumePath, path, 'volumePath')),
  source('photonPersistentDisk', ({ pdID }, path) => needs(pdID, path, 'pdID')),
  source('portworxVolume', ({ volumeID }, path) => needs(volumeID, path, 'volumeID')),
  source('azureDisk', validateAzureDisk),
  source('scaleIO', ({ gateway, system, volumeName }, path) => [
    ...needs(gateway, path, 'gateway'),
    ...needs(system, path, 'system'),
    ...needs(volumeName, path, 'volumeName'),
  ]),
  source('local', ({ path: target }, path) =>
    target === '' ? [required(path.child('path'))] : validateNoBacksteps(target, path.child('path')),
  ),
  source('storageos', ({ volumeName, volumeNamespace, secretRef }, path) => [
    ...(volumeName ? dnsLabel(volumeName, path.child('volumeName')) : [required(path.child('volumeName'))]),
    ...(volumeNamespace ? dnsLabel(volumeNamespace, path.child('volumeNamespace')) : []),
    ...secretIn(secretRef, path),
  ]),
  source('csi', validateCsi),
];

function dnsLabel(value: string, path: FieldPath): FieldErrors {
  return invalidEach(path, value, isDns1123Label(value));
}

function glusterNamespace(namespace: string | undefined, path: FieldPath): FieldErrors {
  if (namespace === undefined) return [];
  if (namespace !== '') return dnsLabel(namespace, path);
  return [invalid(path, namespace, 'if the endpointnamespace is set, it must be a valid namespace name')];
}

const NAME_AND_PORTAL_MAX = 64;

function validateIscsi(iscsi: Readonly<ISCSIPersistentVolumeSource>, path: FieldPath, name: string): FieldErrors {
  const malformed = 'must be valid format';
  const errors = needs(iscsi.targetPortal, path, 'targetPortal');
  const initiator = iscsi.initiatorName;
  if (initiator !== undefined && Buffer.byteLength(`${name}:${iscsi.targetPortal}`) > NAME_AND_PORTAL_MAX) {
    const why =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
    errors.push(invalid(path.child('targetportal'), iscsi.targetPortal, why));
  }
  if (iscsi.iqn === '') errors.push(required(path.child('iqn')));
  else append(errors, validateInitiator(iscsi.iqn, path.child('iqn'), malformed));
  if (iscsi.lun < 0 || iscsi.lun > 255) errors.push(invalid(path.child('lun'), iscsi.lun, rangeMessage(0, 255)));
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && iscsi.secretRef === undefined) {
    errors.push(required(path.child('secretRef')));
  }
  if (iscsi.secretRef !== undefined) append(errors, needs(iscsi.secretRef.name, path.child('secretRef'), 'name'));
  if (initiator !== undefined) append(errors, validateInitiator(initiator, path.child('initiatorname'), malformed));
  return errors;
}

function validateCsi(csi: Readonly<CSIPersistentVolumeSource>, path: FieldPath): FieldErrors {
  const errors = [
    ...validateCsiDriverName(csi.driver, path.child('driver')),
    ...needs(csi.volumeHandle, path, 'volumeHandle'),
  ];
  const secrets = [
    'controllerPublishSecretRef',
    'controllerExpandSecretRef',
    'nodePublishSecretRef',
    'nodeExpandSecretRef',
  ] as const;
  for (const member of secrets) {
    const reference = csi[member];
    if (reference !== undefined) append(errors, validateSecretReference(reference, path.child(member)));
  }
  return errors;
}

function validateSecretReference({ name, namespace }: Readonly<SecretReference>, path: FieldPath): FieldErrors {
  return [
    ...(name ? invalidEach(path.child('name'), name, isDns1123Subdomain(name)) : [required(path.child('name'))]),
    ...(namespace ? dnsLabel(namespace, path.child('namespace')) : [required(path.child('namespace'))]),
  ];
}
