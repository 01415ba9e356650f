import { append } from '../../../lib/values/append.js';
import { type FieldErrors, FieldPath, invalid, required } from '../../../machinery/field-error.js';
import type { Job } from '../../../schema/generated/batch.v1.js';
import type { PodTemplateSpec } from '../../../schema/generated/core.v1.js';
import { labelsValue, selectorValue } from '../../core/internal-form/internal-value.js';
import { compiledSelector } from '../../apps/shared/selector.js';

const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const JOB_NAME = 'batch.kubernetes.io/job-name';
const LEGACY_CONTROLLER_UID = 'controller-uid';
const LEGACY_JOB_NAME = 'job-name';

/** A job finds its pods by its own uid, unless its author insists on choosing. */
export function generateSelector({ metadata, spec }: Job): void {
  if (spec.manualSelector) return;
  const { name = '', uid = '' } = metadata;
  const own = { [LEGACY_JOB_NAME]: name, [JOB_NAME]: name, [LEGACY_CONTROLLER_UID]: uid, [CONTROLLER_UID]: uid };
  const given = spec.template.metadata.labels;
  const labels = { ...own, ...given };
  spec.template.metadata.labels = labels;
  // A job without labels of its own has its template's, those it is found by included.
  if (given !== undefined && metadata.labels === given) metadata.labels = labels;
  const selector = (spec.selector ??= {});
  selector.matchLabels = { [CONTROLLER_UID]: uid, ...selector.matchLabels };
}

/** Jobs made before the labels had a domain lack those that do. */
export const hasPrefixedLabels = ({ spec }: Readonly<Job>): boolean => {
  const { labels } = spec.template.metadata;
  return labels?.[JOB_NAME] !== undefined && labels[CONTROLLER_UID] !== undefined;
};

export function validateGeneratedSelector(job: Readonly<Job>, requirePrefixed: boolean): FieldErrors {
  const { metadata, spec } = job;
  if (spec.manualSelector || !spec.selector) return [];
  const { name = '', uid = '' } = metadata;
  const errors: FieldErrors = [];
  if (uid === '') errors.push(required(FieldPath.of('metadata', 'uid')));
  const expected: Record<string, string> = { [LEGACY_CONTROLLER_UID]: uid, [LEGACY_JOB_NAME]: name };
  if (requirePrefixed) Object.assign(expected, { [CONTROLLER_UID]: uid, [JOB_NAME]: name });
  for (const [label, value] of Object.entries(expected)) append(errors, validateHasLabel(spec.template, label, value));
  const selector = compiledSelector(spec.selector);
  if (selector !== undefined && !selector.matches(expected)) {
    errors.push(
      invalid(FieldPath.of('spec', 'selector'), selectorValue(spec.selector), '`selector` not auto-generated'),
    );
  }
  return errors;
}

function validateHasLabel({ metadata }: Readonly<PodTemplateSpec>, label: string, expected: string): FieldErrors {
  const path = FieldPath.of('spec', 'template', 'metadata', 'labels').key(label);
  const value = metadata.labels?.[label];
  if (value === expected) return [];
  const why = `must be '${expected}'`;
  return [value === undefined ? required(path, why) : invalid(path, labelsValue(metadata), why)];
}
