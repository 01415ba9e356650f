// Seccomp and AppArmor profiles were annotations before they were fields. Where both are given they must agree.
import { type FieldError, type FieldErrors, type FieldPath, forbidden } from '../../../../machinery/field-error.js';
import type { PodSpec } from '../../../../schema/generated/core.v1.js';
import { containersWithPaths } from '../containers.js';
import { type Annotations, APPARMOR_CONTAINER_PREFIX, SECCOMP_CONTAINER_PREFIX, SECCOMP_POD } from './annotations.js';

interface Profile {
  readonly type: string;
  readonly localhostProfile?: string;
}

const LOCALHOST_PREFIX = 'localhost/';
const SECCOMP_NAMES = { Unconfined: ['unconfined'], RuntimeDefault: ['runtime/default', 'docker/default'] };
const APPARMOR_NAMES = { Unconfined: ['unconfined'], RuntimeDefault: ['runtime/default'] };

/** `path` is the spec's. */
export function validateProfileAnnotations(
  annotations: Annotations,
  spec: Readonly<PodSpec>,
  path: FieldPath,
): FieldErrors {
  if (annotations === undefined) return [];
  return [...validateSeccomp(annotations, spec, path), ...validateAppArmor(annotations, spec, path)];
}

function validateSeccomp(
  annotations: Readonly<Record<string, string>>,
  spec: Readonly<PodSpec>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  const compare = (key: string, profile: Profile | undefined, holder: FieldPath): void => {
    const annotation = annotations[key];
    if (profile === undefined || annotation === undefined) return;
    const at = holder.child('securityContext', 'seccompProfile');
    const error = mismatch({ what: 'seccomp', annotation, profile, names: SECCOMP_NAMES, path: at });
    if (error) errors.push(error);
  };
  compare(SECCOMP_POD, spec.securityContext?.seccompProfile, path);
  for (const [container, at] of containersWithPaths(spec, path)) {
    compare(SECCOMP_CONTAINER_PREFIX + container.name, container.securityContext?.seccompProfile, at);
  }
  return errors;
}

function validateAppArmor(
  annotations: Readonly<Record<string, string>>,
  spec: Readonly<PodSpec>,
  path: FieldPath,
): FieldErrors {
  if (spec.os?.name === 'windows') return [];
  const errors: FieldErrors = [];
  for (const [container, at] of containersWithPaths(spec, path)) {
    const profile = container.securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    const annotation = annotations[APPARMOR_CONTAINER_PREFIX + container.name];
    if (profile === undefined || annotation === undefined) continue;
    const holder = at.child('securityContext', 'appArmorProfile');
    const error = mismatch({ what: 'apparmor', annotation, profile, names: APPARMOR_NAMES, path: holder });
    if (error) errors.push(error);
  }
  return errors;
}

interface ProfilePair {
  readonly what: string;
  readonly annotation: string;
  readonly profile: Profile;
  readonly names: Readonly<Record<'Unconfined' | 'RuntimeDefault', readonly string[]>>;
  readonly path: FieldPath;
}

function mismatch({ what, annotation, profile, names, path }: ProfilePair): FieldError | undefined {
  const otherType = forbidden(path.child('type'), `${what} type in annotation and field must match`);
  switch (profile.type) {
    case 'Unconfined':
    case 'RuntimeDefault':
      return names[profile.type].includes(annotation) ? undefined : otherType;
    case 'Localhost':
      if (!annotation.startsWith(LOCALHOST_PREFIX)) return otherType;
      if (annotation.slice(LOCALHOST_PREFIX.length) === profile.localhostProfile) return undefined;
      return forbidden(path.child('localhostProfile'), `${what} profile in annotation and field must match`);
    default:
      return undefined;
  }
}
