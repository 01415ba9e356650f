import { internalDiff } from '../../internal-form/diff.js';
import { goQuote } from '../../../../lib/go/quote.js';
import { type FieldErrors, FieldPath, forbidden } from '../../../../machinery/field-error.js';
import type { Pod } from '../../../../schema/generated/core.v1.js';
import { sameEphemeralContainer } from '../equal.js';
import { MIRROR_POD, validatePodAnnotationsUpdate } from './annotations.js';
import type { PodRules } from './pod-rules.js';
import { validatePodOnly } from './pod.js';

const PATH = FieldPath.of('spec', 'ephemeralContainers');

/** Ephemeral containers come to a running pod and stay as they came. */
export function validateEphemeralContainersUpdate(
  pod: Readonly<Pod>,
  old: Readonly<Pod>,
  rules: PodRules,
): FieldErrors {
  if (old.metadata.annotations?.[MIRROR_POD] !== undefined) {
    return [forbidden(FieldPath.of(''), 'static pods do not support ephemeral containers')];
  }
  const errors = [
    ...validatePodOnly(pod, rules),
    ...validatePodAnnotationsUpdate(pod, old, FieldPath.of('metadata', 'annotations'), rules),
  ];
  const byName = new Map((pod.spec.ephemeralContainers ?? []).map((each) => [each.name, each]));
  for (const before of old.spec.ephemeralContainers ?? []) {
    const now = byName.get(before.name);
    const existing = `existing ephemeral containers ${goQuote(before.name)}`;
    if (now === undefined) errors.push(forbidden(PATH, `${existing} may not be removed\n`));
    else if (!sameEphemeralContainer(before, now)) {
      const changes = internalDiff('EphemeralContainer', before, now);
      errors.push(forbidden(PATH, `${existing} may not be changed\n${changes}`));
    }
  }
  return errors;
}
