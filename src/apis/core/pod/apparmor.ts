import { deepEqual } from '../../../lib/values/deep-equal.js';
import { FieldPath } from '../../../machinery/field-error.js';
import type { AppArmorProfile, Pod } from '../../../schema/generated/core.v1.js';
import { allContainers } from './containers.js';
import { APPARMOR_CONTAINER_PREFIX, APPARMOR_LOCALHOST_PREFIX } from './validation/annotations.js';

const ANNOTATIONS = FieldPath.of('metadata', 'annotations');

/** Profiles still written as annotations become the fields nodes read. */
export function adoptAppArmorAnnotations({ metadata, spec }: Pod, warn: (text: string) => void): void {
  if (metadata.annotations === undefined || spec.os?.name === 'windows') return;
  for (const container of allContainers(spec)) {
    const key = APPARMOR_CONTAINER_PREFIX + container.name;
    const annotation = metadata.annotations[key];
    if (annotation === undefined || container.securityContext?.appArmorProfile) continue;
    const profile = appArmorProfileFor(annotation);
    const known = profile !== undefined && deepEqual(profile, spec.securityContext?.appArmorProfile);
    if (known) continue;
    if (profile) (container.securityContext ??= {}).appArmorProfile = profile;
    warn(`${ANNOTATIONS.key(key).toString()}: deprecated since v1.30; use the "appArmorProfile" field instead`);
  }
}

/** Undefined for an annotation that names no profile a field could. */
export function appArmorProfileFor(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  const localhostProfile = annotation.startsWith(APPARMOR_LOCALHOST_PREFIX)
    ? annotation.slice(APPARMOR_LOCALHOST_PREFIX.length)
    : '';
  if (localhostProfile === '' || localhostProfile.trim() !== localhostProfile) return undefined;
  return { type: 'Localhost', localhostProfile };
}
