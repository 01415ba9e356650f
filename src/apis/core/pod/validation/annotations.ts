// Annotations that mean something to pods.
import { append } from '../../../../lib/values/append.js';
import { type FieldErrors, type FieldPath, forbidden, invalid } from '../../../../machinery/field-error.js';
import { goQuote } from '../../../../lib/go/quote.js';
import type { Pod, PodSpec, Toleration } from '../../../../schema/generated/core.v1.js';
import { readInternalList } from '../../shared/json-text.js';
import { allContainers } from '../containers.js';
import type { PodStatusRules } from './pod-rules.js';
import { validateLocalDescendingPath } from './paths.js';
import { validateTolerations } from './tolerations.js';

export const MIRROR_POD = 'kubernetes.io/config.mirror';
export const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
export const SECCOMP_CONTAINER_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';
const SECCOMP_LOCALHOST_PREFIX = 'localhost/';
export const APPARMOR_CONTAINER_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
export const APPARMOR_LOCALHOST_PREFIX = 'localhost/';
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

export type Annotations = Readonly<Record<string, string>> | undefined;

export function validatePodAnnotations(
  annotations: Annotations,
  spec: Readonly<PodSpec>,
  path: FieldPath,
  rules: PodStatusRules,
): FieldErrors {
  if (annotations === undefined) return [];
  const errors: FieldErrors = [];
  const mirror = annotations[MIRROR_POD];
  if (mirror !== undefined && !spec.nodeName) {
    errors.push(invalid(path.key(MIRROR_POD), mirror, 'must set spec.nodeName if mirror pod annotation is set'));
  }
  if (annotations[TOLERATIONS]) append(errors, validateTolerationsAnnotation(annotations[TOLERATIONS], path));
  if (!rules.allowInvalidDeletionCost && deletionCostIsInvalid(annotations)) {
    errors.push(invalid(path.key(DELETION_COST), annotations[DELETION_COST], 'must be a 32bit integer'));
  }
  append(errors, validateSeccompAnnotations(annotations, path));
  const profiles = Object.keys(annotations).filter(isAppArmor).sort();
  if (profiles.length === 0) return errors;
  const containers = new Set(allContainers(spec).map(({ name }) => name));
  for (const key of profiles) {
    append(errors, validateAppArmorAnnotation(key, annotations[key] ?? '', containers, path));
  }
  return errors;
}

/** What an update may not do to them, and then the rules above on the new ones. */
export function validatePodAnnotationsUpdate(
  pod: Readonly<Pod>,
  old: Readonly<Pod>,
  path: FieldPath,
  rules: PodStatusRules,
): FieldErrors {
  const errors: FieldErrors = [];
  const now = pod.metadata.annotations ?? {};
  const before = old.metadata.annotations ?? {};
  for (const key of Object.keys(before).filter(isFixed).sort()) {
    if (now[key] === before[key]) continue;
    const what = key === MIRROR_POD ? 'mirror pod annotation' : 'AppArmor annotations';
    errors.push(forbidden(path.key(key), `may not remove or update ${what}`));
  }
  for (const key of Object.keys(now).filter(isFixed).sort()) {
    if (before[key] !== undefined) continue;
    const what = key === MIRROR_POD ? 'mirror pod annotation' : 'AppArmor annotations';
    errors.push(forbidden(path.key(key), `may not add ${what}`));
  }
  append(errors, validatePodAnnotations(pod.metadata.annotations, pod.spec, path, rules));
  return errors;
}

/** A 32-bit number without a plus sign or leading zeros. */
export function deletionCostIsInvalid(annotations: Annotations): boolean {
  const text = annotations?.[DELETION_COST];
  if (text === undefined) return false;
  if (!/^(0|-?[1-9][0-9]{0,10})$/.test(text)) return true;
  const cost = Number(text);
  return cost < -(2 ** 31) || cost > 2 ** 31 - 1;
}

function validateTolerationsAnnotation(text: string, path: FieldPath): FieldErrors {
  const read = readInternalList<Toleration>(text, 'Toleration');
  if ('problem' in read) return [invalid(path, TOLERATIONS, read.problem)];
  return validateTolerations(read.value, path.child(TOLERATIONS));
}

function validateSeccompAnnotations(annotations: Readonly<Record<string, string>>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const pod = annotations[SECCOMP_POD];
  if (pod !== undefined) append(errors, validateSeccompProfileName(pod, path.child(SECCOMP_POD)));
  const profiles = Object.keys(annotations).filter((key) => key.startsWith(SECCOMP_CONTAINER_PREFIX));
  for (const key of profiles.sort()) {
    append(errors, validateSeccompProfileName(annotations[key] ?? '', path.child(key)));
  }
  return errors;
}

function validateSeccompProfileName(name: string, path: FieldPath): FieldErrors {
  if (name === 'runtime/default' || name === 'docker/default' || name === 'unconfined') return [];
  if (name.startsWith(SECCOMP_LOCALHOST_PREFIX)) {
    return validateLocalDescendingPath(name.slice(SECCOMP_LOCALHOST_PREFIX.length), path);
  }
  return [invalid(path, name, 'must be a valid seccomp profile')];
}

const isAppArmor = (key: string): boolean => key.startsWith(APPARMOR_CONTAINER_PREFIX);
/** Those that a pod keeps as it was created with them. */
const isFixed = (key: string): boolean => key === MIRROR_POD || isAppArmor(key);

function validateAppArmorAnnotation(
  key: string,
  profile: string,
  containers: ReadonlySet<string>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  const name = key.slice(APPARMOR_CONTAINER_PREFIX.length);
  if (!containers.has(name)) {
    errors.push(invalid(path.key(key), name, 'container not found'));
  }
  const known = profile === '' || profile === 'runtime/default' || profile === 'unconfined';
  if (!known && !profile.startsWith(APPARMOR_LOCALHOST_PREFIX)) {
    errors.push(invalid(path.key(key), profile, `invalid AppArmor profile name: ${goQuote(profile)}`));
  }
  return errors;
}
