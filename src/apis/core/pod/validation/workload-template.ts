// Templates inside kinds that keep their pods running.
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
} from '../../../../machinery/field-error.js';
import { labelsValue } from '../../internal-form/internal-value.js';
import type { LabelSelector } from '../../../../machinery/label-selector.js';
import type { PodTemplateSpec } from '../../../../schema/generated/core.v1.js';
import type { PodRules } from './pod-rules.js';
import { validatePodTemplateSpec } from './pod.js';

const UNMATCHED = '`selector` does not match template `labels`';

/** The pods a template makes must be the pods the selector finds. */
export function validateSelected(
  template: Readonly<PodTemplateSpec>,
  selector: LabelSelector,
  path: FieldPath,
): FieldErrors {
  const { labels } = template.metadata;
  if (selector.empty || selector.matches(labels)) return [];
  return [invalid(path.child('metadata', 'labels'), labelsValue(template.metadata), UNMATCHED)];
}

/** Templates of long-running workloads always restart, and have no active deadline. `kind` is named in the error. */
export function validateKeptRunning({ spec }: Readonly<PodTemplateSpec>, kind: string, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (spec.restartPolicy !== 'Always') {
    errors.push(notSupported(path.child('spec', 'restartPolicy'), spec.restartPolicy ?? '', ['Always']));
  }
  if (spec.activeDeadlineSeconds !== undefined) {
    const why = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(forbidden(path.child('spec', 'activeDeadlineSeconds'), why));
  }
  return errors;
}

export interface ReplicatedTemplate {
  readonly template: Readonly<PodTemplateSpec>;
  readonly selector: LabelSelector;
  readonly kind: string;
  readonly path: FieldPath;
  readonly rules: PodRules;
}

export const validateReplicatedTemplate = ({
  template,
  selector,
  kind,
  path,
  rules,
}: ReplicatedTemplate): FieldErrors => [
  ...validateSelected(template, selector, path),
  ...validatePodTemplateSpec(template, path, rules),
  ...validateKeptRunning(template, kind, path),
];
