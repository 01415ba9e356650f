import { append } from '../../../lib/values/append.js';
import { deepEqual } from '../../../lib/values/deep-equal.js';
import {
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../machinery/field-error.js';
import { asGiven } from '../../../machinery/explicit-empty.js';
import { invalidEach, validateImmutableName } from '../../../machinery/validation/fields.js';
import { isDns1123Subdomain, isValidLabelValue } from '../../../machinery/validation/names.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type {
  NodeSelectorTerm,
  PersistentVolume,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '../../../schema/generated/core.v1.js';
import { internalDiff } from '../internal-form/diff.js';
import { sortedByKey } from '../internal-form/members.js';
import { internalValue } from '../internal-form/internal-value.js';
import { validateNodeSelector } from '../pod/validation/affinity.js';
import { sortedKeys } from '../shared/key-values.js';
import { validatePositiveQuantity, validateStorageAmount } from '../shared/resource-list.js';
import { validateAccessModes, VOLUME_MODES } from '../shared/volume-rules.js';
import { validateVolumeSources } from './volume-sources.js';

const SPEC = FieldPath.of('spec');
const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options';
const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];
const INLINE = 'in the context of inline volumes';

export interface VolumeSpecOptions {
  /** The spec stands inside a volume attachment, not in a volume of its own. */
  readonly inline?: boolean;
  readonly allowInvalidNodeAffinityValue?: boolean;
  /** The VolumeAttributesClass gate; default on. */
  readonly volumeAttributesClass?: boolean;
}

export const validateVolume = (object: Readonly<PersistentVolume>, features: FeatureGates): FieldErrors => [
  ...validateVolumeSpec(object.spec, object.metadata.name ?? '', SPEC, optionsFor(features)),
  ...validateMountOptions(object),
];

export function validateVolumeUpdate(
  object: Readonly<PersistentVolume>,
  old: Readonly<PersistentVolume>,
  features: FeatureGates,
  metadata: FieldErrors,
): FieldErrors {
  const options = optionsFor(features, old);
  const own = validateVolumeSpec(object.spec, object.metadata.name ?? '', SPEC, options);
  // kube-apiserver's update rules begin with those of a new volume once more.
  const errors = [...metadata, ...own, ...validateMountOptions(object), ...metadata, ...own];
  const before = sourceOf(old.spec);
  const now = sourceOf(withoutNewExpandSecret(object.spec, old.spec));
  if (!deepEqual(now, before)) {
    const why = `spec.persistentvolumesource is immutable after creation\n${internalDiff('PersistentVolumeSource', before, now)}`;
    errors.push(forbidden(SPEC.child('persistentvolumesource'), why));
  }
  append(errors, validateImmutableName(object.spec.volumeMode, old.spec.volumeMode, FieldPath.of('volumeMode')));
  if (old.spec.nodeAffinity !== undefined) {
    append(errors, keepNodeAffinity(object.spec.nodeAffinity, old.spec.nodeAffinity));
  }
  append(errors, validateAttributesClassUpdate(object, old, options, features));
  return errors;
}

export function validateVolumeSpec(
  spec: Readonly<PersistentVolumeSpec>,
  name: string,
  path: FieldPath,
  options: VolumeSpecOptions,
): FieldErrors {
  const inline = options.inline === true;
  const errors = inline ? validateInline(spec, path) : [];
  if ((spec.accessModes ?? []).length === 0) errors.push(required(path.child('accessModes')));
  append(errors, validateAccessModes(spec.accessModes, path.child('accessModes')));
  if (!inline) append(errors, validateCapacity(spec, path.child('capacity')));
  append(errors, validateReclaimPolicy(spec, inline, path.child('persistentVolumeReclaimPolicy')));
  if (spec.nodeAffinity !== undefined) {
    const at = path.child('nodeAffinity');
    if (inline) errors.push(forbidden(at, `may not be specified ${INLINE}`));
    else append(errors, validateNodeAffinity(spec.nodeAffinity, options.allowInvalidNodeAffinityValue === true, at));
  }
  append(
    errors,
    validateVolumeSources(spec, name, path),
    validateRecycledRoot(spec, path),
    validateClassAndMode(spec, inline, path),
  );
  if (spec.volumeAttributesClassName !== undefined && options.volumeAttributesClass !== false) {
    append(errors, validateAttributesClass(spec, spec.volumeAttributesClassName, path));
  }
  return errors;
}

function optionsFor(features: FeatureGates, old?: Readonly<PersistentVolume>): VolumeSpecOptions {
  const terms = old?.spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return {
    volumeAttributesClass:
      features.enabled('VolumeAttributesClass') || old?.spec.volumeAttributesClassName !== undefined,
    allowInvalidNodeAffinityValue: terms.some(hasInvalidValue),
  };
}

const hasInvalidValue = ({ matchExpressions }: Readonly<NodeSelectorTerm>): boolean =>
  (matchExpressions ?? []).some(({ values }) => (values ?? []).some((value) => isValidLabelValue(value).length > 0));

function validateInline(spec: Readonly<PersistentVolumeSpec>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (spec.claimRef !== undefined) errors.push(forbidden(path.child('claimRef'), `may not be specified ${INLINE}`));
  if (sortedKeys(spec.capacity).length > 0) {
    errors.push(forbidden(path.child('capacity'), `may not be specified ${INLINE}`));
  }
  if (spec.csi === undefined) errors.push(required(path.child('csi'), `has to be specified ${INLINE}`));
  return errors;
}

function validateCapacity(spec: Readonly<PersistentVolumeSpec>, path: FieldPath): FieldErrors {
  const { capacity } = spec;
  const names = sortedKeys(capacity);
  const errors: FieldErrors = [];
  if (names.length === 0) errors.push(required(path));
  if (names.length !== 1 || names[0] !== 'storage')
    errors.push(notSupported(path, capacity ? sortedByKey(capacity) : asGiven(spec, 'capacity', {}), ['storage']));
  for (const name of names) {
    const quantity = capacity?.[name] ?? '0';
    append(errors, validateStorageAmount(quantity, path.key(name)), validatePositiveQuantity(quantity, path.key(name)));
  }
  return errors;
}

function validateReclaimPolicy(spec: Readonly<PersistentVolumeSpec>, inline: boolean, path: FieldPath): FieldErrors {
  const policy = spec.persistentVolumeReclaimPolicy;
  if (!policy) return [];
  if (inline) return policy === 'Retain' ? [] : [forbidden(path, `may only be Retain ${INLINE}`)];
  return RECLAIM_POLICIES.includes(policy) ? [] : [notSupported(path, policy, RECLAIM_POLICIES)];
}

const validateNodeAffinity = (
  affinity: Readonly<VolumeNodeAffinity>,
  allowInvalidValue: boolean,
  path: FieldPath,
): FieldErrors =>
  affinity.required === undefined
    ? [required(path.child('required'), 'must specify required node constraints')]
    : validateNodeSelector(affinity.required, allowInvalidValue, path.child('required'));

/** Recycling empties a volume: a node's whole file system must not be one. */
function validateRecycledRoot(spec: Readonly<PersistentVolumeSpec>, path: FieldPath): FieldErrors {
  if (!leadsToRoot(spec.hostPath?.path ?? '') || spec.persistentVolumeReclaimPolicy !== 'Recycle') return [];
  const why = "may not be 'recycle' for a hostPath mount of '/'";
  return [forbidden(path.child('persistentVolumeReclaimPolicy'), why)];
}

function leadsToRoot(path: string): boolean {
  let depth = 0;
  for (const part of path.split('/')) {
    if (part === '..') depth = Math.max(0, depth - 1);
    else if (part !== '' && part !== '.') depth++;
  }
  return path.startsWith('/') && depth === 0;
}

function validateClassAndMode(spec: Readonly<PersistentVolumeSpec>, inline: boolean, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const { storageClassName, volumeMode } = spec;
  if (storageClassName) {
    const at = path.child('storageClassName');
    if (inline) errors.push(forbidden(at, `may not be specified ${INLINE}`));
    else append(errors, invalidEach(at, storageClassName, isDns1123Subdomain(storageClassName)));
  }
  if (volumeMode === undefined) return errors;
  const at = path.child('volumeMode');
  if (inline) {
    if (volumeMode !== 'Filesystem') {
      errors.push(forbidden(at, `may not specify volumeMode other than Filesystem ${INLINE}`));
    }
  } else if (!VOLUME_MODES.includes(volumeMode)) errors.push(notSupported(at, volumeMode, VOLUME_MODES));
  return errors;
}

function validateAttributesClass(spec: Readonly<PersistentVolumeSpec>, name: string, path: FieldPath): FieldErrors {
  const at = path.child('volumeAttributesClassName');
  const errors =
    name === '' ? [required(at, 'an empty string is disallowed')] : invalidEach(at, name, isDns1123Subdomain(name));
  if (spec.csi === undefined) {
    errors.push(required(path.child('csi'), 'has to be specified when using volumeAttributesClassName'));
  }
  return errors;
}

const WITH_MOUNT_OPTIONS = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
] as const;

function validateMountOptions({ metadata, spec }: Readonly<PersistentVolume>): FieldErrors {
  if (metadata.annotations?.[MOUNT_OPTIONS] === undefined) return [];
  if (WITH_MOUNT_OPTIONS.some((member) => spec[member] !== undefined)) return [];
  const path = FieldPath.of('metadata', 'annotations', MOUNT_OPTIONS);
  return [forbidden(path, 'may not specify mount options for this volume type')];
}

const NOT_SOURCE: ReadonlySet<string> = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
]);

const sourceOf = (spec: Readonly<PersistentVolumeSpec>): Partial<PersistentVolumeSpec> =>
  Object.fromEntries(Object.entries(spec).filter(([member]) => !NOT_SOURCE.has(member)));

/** A secret for expanding may be added to a volume that has none. */
function withoutNewExpandSecret(
  spec: Readonly<PersistentVolumeSpec>,
  old: Readonly<PersistentVolumeSpec>,
): Readonly<PersistentVolumeSpec> {
  if (spec.csi?.controllerExpandSecretRef === undefined || old.csi === undefined) return spec;
  if (old.csi.controllerExpandSecretRef !== undefined) return spec;
  const csi = { ...spec.csi };
  delete csi.controllerExpandSecretRef;
  return { ...spec, csi };
}

const NEWER_LABELS: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
};

/** Node affinity stays, but a label may take its newer name, or, in kube-apiserver, lose a name that has no newer one. */
function keepNodeAffinity(
  affinity: Readonly<VolumeNodeAffinity> | undefined,
  old: Readonly<VolumeNodeAffinity>,
): FieldErrors {
  if (deepEqual(affinity, renamedLike(affinity, old))) return [];
  const shown = affinity === undefined ? undefined : internalValue('VolumeNodeAffinity', affinity);
  const why = 'field is immutable, except for updating from beta label to GA';
  return [invalid(FieldPath.of('nodeAffinity'), shown, why)];
}

/** The old affinity with the labels that the new one gives their newer names. */
function renamedLike(
  affinity: Readonly<VolumeNodeAffinity> | undefined,
  old: Readonly<VolumeNodeAffinity>,
): VolumeNodeAffinity {
  const terms = old.required?.nodeSelectorTerms;
  if (!terms || affinity?.required === undefined) return old;
  const rename = (term: NodeSelectorTerm, position: number): NodeSelectorTerm => {
    const wanted = affinity.required?.nodeSelectorTerms?.[position];
    const renamed: NodeSelectorTerm = { ...term };
    for (const member of ['matchExpressions', 'matchFields'] as const) {
      const list = term[member];
      if (list === undefined) continue;
      renamed[member] = list.map((requirement, index) => {
        const key = wanted?.[member]?.[index]?.key;
        return key !== undefined && (NEWER_LABELS[requirement.key] ?? '') === key
          ? { ...requirement, key }
          : requirement;
      });
    }
    return renamed;
  };
  return { ...old, required: { ...old.required, nodeSelectorTerms: terms.map(rename) } };
}

function validateAttributesClassUpdate(
  object: Readonly<PersistentVolume>,
  old: Readonly<PersistentVolume>,
  options: VolumeSpecOptions,
  features: FeatureGates,
): FieldErrors {
  const name = object.spec.volumeAttributesClassName;
  const before = old.spec.volumeAttributesClassName;
  if (name === before) return [];
  const path = SPEC.child('volumeAttributesClassName');
  const errors: FieldErrors = [];
  if (!features.enabled('VolumeAttributesClass')) {
    errors.push(forbidden(path, 'update is forbidden when the VolumeAttributesClass feature gate is disabled'));
  }
  if (options.volumeAttributesClass && before !== undefined && name === undefined) {
    errors.push(forbidden(path, 'update from non-nil value to nil is forbidden'));
  }
  return errors;
}
