import { append } from '../../../../lib/values/append.js';
import { type FieldErrors, FieldPath, forbidden } from '../../../../machinery/field-error.js';
import type { Container, Pod, PodTemplateSpec } from '../../../../schema/generated/core.v1.js';
import { validateAnnotations } from '../../../../machinery/validation/object-meta.js';
import { validateLabels } from '../../../../machinery/validation/label-selector.js';
import { validatePodAnnotations } from './annotations.js';
import { validateImagePadding } from './containers.js';
import type { PodRules } from './pod-rules.js';
import { validateProfileAnnotations } from './profile-annotations.js';
import { validatePodSpec } from './spec.js';

const METADATA = FieldPath.of('metadata');
const SPEC = FieldPath.of('spec');

export function validatePodCreate(pod: Readonly<Pod>, rules: PodRules): FieldErrors {
  const errors = validatePodOnly(pod, rules);
  if (pod.spec.ephemeralContainers) {
    errors.push(forbidden(SPEC.child('ephemeralContainers'), 'cannot be set on create'));
  }
  if (pod.spec.nodeName && pod.spec.schedulingGates) {
    errors.push(forbidden(SPEC.child('nodeName'), 'cannot be set until all schedulingGates have been cleared'));
  }
  append(errors, validateProfileAnnotations(pod.metadata.annotations, pod.spec, SPEC));
  return errors;
}

/** What holds for every version of a pod, and not for templates of pods. */
export function validatePodOnly({ metadata, spec }: Readonly<Pod>, rules: PodRules): FieldErrors {
  const errors = [
    ...validatePodAnnotations(metadata.annotations, spec, METADATA.child('annotations'), rules),
    ...validatePodSpec(spec, metadata, SPEC, rules),
  ];
  if (!spec.serviceAccountName) append(errors, validateNoTokens(spec.volumes));
  append(
    errors,
    validateImages(spec.containers ?? [], SPEC.child('containers')),
    validateImages(spec.initContainers ?? [], SPEC.child('initContainers')),
  );
  return errors;
}

export function validatePodTemplateSpec(
  { metadata, spec }: Readonly<PodTemplateSpec>,
  path: FieldPath,
  rules: PodRules,
): FieldErrors {
  const specPath = path.child('spec');
  const errors = [
    ...validateLabels(metadata.labels, path.child('labels')),
    ...validateAnnotations(metadata.annotations, path.child('annotations')),
    ...validatePodAnnotations(metadata.annotations, spec, path.child('annotations'), rules),
    ...validatePodSpec(spec, undefined, specPath, rules),
    ...validateProfileAnnotations(metadata.annotations, spec, specPath),
  ];
  if (spec.ephemeralContainers) {
    const why = 'ephemeral containers not allowed in pod template';
    errors.push(forbidden(specPath.child('ephemeralContainers'), why));
  }
  return errors;
}

function validateNoTokens(volumes: Pod['spec']['volumes']): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, { projected }] of (volumes ?? []).entries()) {
    for (const [index, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (!serviceAccountToken) continue;
      const at = SPEC.child('volumes').index(position).child('projected', 'sources').index(index);
      const why = 'must not be specified when serviceAccountName is not set';
      errors.push(forbidden(at.child('serviceAccountToken'), why));
    }
  }
  return errors;
}

function validateImages(containers: readonly Container[], path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, container] of containers.entries()) {
    append(errors, validateImagePadding(container, path.index(position)));
  }
  return errors;
}
