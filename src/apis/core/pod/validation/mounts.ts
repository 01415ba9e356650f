// Where a container finds the pod's volumes: as files (mounts) or as block devices.
import { append } from '../../../../lib/values/append.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
} from '../../../../machinery/field-error.js';
import type { VolumeMount } from '../../../../schema/generated/core.v1.js';
import type { AnyContainer } from '../containers.js';
import { climbs, validateLocalDescendingPath } from './paths.js';
import type { ValidVolumes } from './volumes.js';

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const READ_ONLY_MODES = ['Disabled', 'Enabled', 'IfPossible'];

export function validateVolumeMounts(
  container: Readonly<AnyContainer>,
  volumes: ValidVolumes,
  path: FieldPath,
): FieldErrors {
  if (container.volumeMounts === undefined) return [];
  const errors: FieldErrors = [];
  const devices = container.volumeDevices ?? [];
  const mounted = new Set<string>();
  for (const [position, mount] of container.volumeMounts.entries()) {
    const at = path.index(position);
    const { name, mountPath, subPath, subPathExpr } = mount;
    if (name === '') errors.push(required(at.child('name')));
    if (!volumes.has(name)) errors.push(notFound(at.child('name'), name));
    if (mountPath === '') errors.push(required(at.child('mountPath')));
    if (mounted.has(mountPath)) errors.push(invalid(at.child('mountPath'), mountPath, 'must be unique'));
    mounted.add(mountPath);
    if (devices.some((device) => device.name === name)) {
      errors.push(invalid(at.child('name'), name, 'must not already exist in volumeDevices'));
    }
    if (devices.some((device) => device.devicePath === mountPath)) {
      errors.push(invalid(at.child('mountPath'), mountPath, 'must not already exist as a path in volumeDevices'));
    }
    // The paths of the rules below lack the position, as kube-apiserver's do.
    if (subPath) append(errors, validateLocalDescendingPath(subPath, path.child('subPath')));
    if (subPathExpr) {
      if (subPath) {
        const why = 'subPathExpr and subPath are mutually exclusive';
        errors.push(invalid(at.child('subPathExpr'), subPathExpr, why));
      }
      append(errors, validateLocalDescendingPath(subPathExpr, path.child('subPathExpr')));
    }
    append(
      errors,
      validatePropagation(mount, container, path.child('mountPropagation')),
      validateRecursiveReadOnly(mount, path.child('recursiveReadOnly')),
    );
  }
  return errors;
}

export function validateVolumeDevices(
  container: Readonly<AnyContainer>,
  volumes: ValidVolumes,
  path: FieldPath,
): FieldErrors {
  if (container.volumeDevices === undefined) return [];
  const errors: FieldErrors = [];
  const mounts = container.volumeMounts ?? [];
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [position, { name, devicePath }] of container.volumeDevices.entries()) {
    const at = path.index(position);
    const volume = volumes.get(name);
    if (name === '') errors.push(required(at.child('name')));
    if (names.has(name)) errors.push(invalid(at.child('name'), name, 'must be unique'));
    if (volume === undefined) errors.push(notFound(at.child('name'), name));
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      const why = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      errors.push(invalid(at.child('name'), name, why));
    }
    if (devicePath === '') errors.push(required(at.child('devicePath')));
    if (paths.has(devicePath)) errors.push(invalid(at.child('devicePath'), devicePath, 'must be unique'));
    if (climbs(devicePath)) {
      errors.push(invalid(at.child('devicePath'), devicePath, "can not contain backsteps ('..')"));
    } else paths.add(devicePath);
    if (mounts.some((mount) => mount.name === name)) {
      errors.push(invalid(at.child('name'), name, 'must not already exist in volumeMounts'));
    }
    if (mounts.some((mount) => mount.mountPath === devicePath)) {
      errors.push(invalid(at.child('devicePath'), devicePath, 'must not already exist as a path in volumeMounts'));
    }
    if (name !== '') names.add(name);
  }
  return errors;
}

function validatePropagation(
  { mountPropagation }: Readonly<VolumeMount>,
  { securityContext }: Readonly<AnyContainer>,
  path: FieldPath,
): FieldErrors {
  if (mountPropagation === undefined) return [];
  if (!PROPAGATIONS.includes(mountPropagation)) return [notSupported(path, mountPropagation, PROPAGATIONS)];
  if (mountPropagation === 'Bidirectional' && securityContext?.privileged !== true) {
    return [forbidden(path, 'Bidirectional mount propagation is available only to privileged containers')];
  }
  return [];
}

function validateRecursiveReadOnly(
  { recursiveReadOnly, readOnly, mountPropagation }: Readonly<VolumeMount>,
  path: FieldPath,
): FieldErrors {
  if (recursiveReadOnly === undefined || recursiveReadOnly === 'Disabled') return [];
  if (!READ_ONLY_MODES.includes(recursiveReadOnly)) return [notSupported(path, recursiveReadOnly, READ_ONLY_MODES)];
  const errors: FieldErrors = [];
  if (!readOnly) errors.push(forbidden(path, 'may only be specified when readOnly is true'));
  if (mountPropagation !== undefined && mountPropagation !== 'None') {
    errors.push(forbidden(path, 'may only be specified when mountPropagation is None or not specified'));
  }
  return errors;
}
