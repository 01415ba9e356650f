import { append } from '../../../lib/values/append.js';
import { internalValue, labelsValue } from '../../core/internal-form/internal-value.js';
import { deepEqual } from '../../../lib/values/deep-equal.js';
import { goQuote } from '../../../lib/go/quote.js';
import {
  type FieldErrors,
  FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../machinery/field-error.js';
import {
  IMMUTABLE,
  isDomainPrefixedPath,
  validateImmutableField,
  validateNonNegative,
  validateImmutableName,
} from '../../../machinery/validation/fields.js';
import { validateLabelSelector } from '../../../machinery/validation/label-selector.js';
import { isDns1123Label } from '../../../machinery/validation/names.js';
import type { Job, JobSpec } from '../../../schema/generated/batch.v1.js';
import type { Affinity, PodTemplateSpec } from '../../../schema/generated/core.v1.js';
import { samePodTemplate } from '../../core/pod/equal.js';
import type { PodRules } from '../../core/pod/validation/pod-rules.js';
import { validatePodTemplateSpec } from '../../core/pod/validation/pod.js';
import { compiledSelector, validateImmutableSelector } from '../../apps/shared/selector.js';
import { validateFailurePolicy, validateSuccessPolicy } from './policies.js';
import { validateGeneratedSelector } from './selector.js';

const SPEC = FieldPath.of('spec');
const MAX_INDEXED = 100_000;
/** Above so many completions with a backoff per index, parallelism and failed indexes are held lower. */
const MANY_COMPLETIONS = 100_000;
const LIMIT_FOR_MANY = 10_000;
const MAX_MANAGED_BY_LENGTH = 63;
const COMPLETION_MODES = ['NonIndexed', 'Indexed'];
const REPLACEMENT_POLICIES = ['Failed', 'TerminatingOrFailed'];

export function validateJob(job: Readonly<Job>, rules: PodRules, requirePrefixedLabels: boolean): FieldErrors {
  const { metadata, spec } = job;
  const errors = [...validateGeneratedSelector(job, requirePrefixedLabels), ...validateJobSpec(spec, rules)];
  if (spec.completionMode === 'Indexed' && (spec.completions ?? 0) > 0) {
    const hostname = `${metadata.name ?? ''}-${(spec.completions ?? 0) - 1}`;
    if (isDns1123Label(hostname).length > 0) {
      const why = `will not able to create pod with invalid DNS label: ${hostname}`;
      errors.push(invalid(FieldPath.of('metadata', 'name'), metadata.name ?? '', why));
    }
  }
  return errors;
}

/** `mutableDirectives`: the job was suspended and has not started, so where its pods may run can still change. */
export function validateJobUpdate(
  spec: Readonly<JobSpec>,
  old: Readonly<JobSpec>,
  rules: PodRules,
  mutableDirectives: boolean,
): FieldErrors {
  const immutableStruct = (member: 'podFailurePolicy' | 'successPolicy', struct: string): FieldErrors =>
    deepEqual(spec[member], old[member])
      ? []
      : [invalid(SPEC.child(member), internalValue(struct, spec[member]), IMMUTABLE)];
  return [
    ...validateJobSpec(spec, rules),
    ...validateCompletionsUpdate(spec, old),
    ...validateImmutableSelector(spec.selector, old.selector, SPEC.child('selector')),
    ...validateTemplateUpdate(spec.template, old.template, mutableDirectives),
    ...validateImmutableName(spec.completionMode, old.completionMode, SPEC.child('completionMode')),
    ...immutableStruct('podFailurePolicy', 'PodFailurePolicy'),
    ...validateImmutableField(spec.backoffLimitPerIndex, old.backoffLimitPerIndex, SPEC.child('backoffLimitPerIndex')),
    ...validateImmutableName(spec.managedBy, old.managedBy, SPEC.child('managedBy')),
    ...immutableStruct('successPolicy', 'SuccessPolicy'),
  ];
}

function validateJobSpec(spec: Readonly<JobSpec>, rules: PodRules): FieldErrors {
  const errors = validateJobTemplate(spec, SPEC, rules);
  if (!spec.selector) errors.push(required(SPEC.child('selector')));
  else {
    const options = { allowInvalidLabelValue: rules.allowInvalidAffinityLabelValue };
    append(errors, validateLabelSelector(spec.selector, options, SPEC.child('selector')));
  }
  const selector = compiledSelector(spec.selector);
  const { labels } = spec.template.metadata;
  if (selector !== undefined && !selector.matches(labels)) {
    const path = SPEC.child('template', 'metadata', 'labels');
    errors.push(invalid(path, labelsValue(spec.template.metadata), '`selector` does not match template `labels`'));
  }
  return errors;
}

/** The rules of a job's spec also inside a cron job, where it has no selector yet. */
export function validateJobTemplate(spec: Readonly<JobSpec>, path: FieldPath, rules: PodRules): FieldErrors {
  const { podFailurePolicy, successPolicy, completionMode } = spec;
  const errors = [...validateNumbers(spec, path), ...validateManagedBy(spec, path.child('managedBy'))];
  if (completionMode !== undefined && !COMPLETION_MODES.includes(completionMode)) {
    errors.push(notSupported(path.child('completionMode'), completionMode, COMPLETION_MODES));
  }
  if (completionMode === 'Indexed') append(errors, validateIndexed(spec, path));
  if (completionMode === undefined || completionMode === 'NonIndexed') {
    for (const member of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
      if (spec[member] === undefined) continue;
      errors.push(invalid(path.child(member), spec[member], 'requires indexed completion mode'));
    }
  }
  if (podFailurePolicy) append(errors, validateFailurePolicy(spec, path.child('podFailurePolicy')));
  if (successPolicy) {
    const at = path.child('successPolicy');
    if (completionMode === 'Indexed') append(errors, validateSuccessPolicy(spec, at));
    else errors.push(invalid(at, internalValue('SuccessPolicy', successPolicy), 'requires indexed completion mode'));
  }
  append(
    errors,
    validateReplacementPolicy(spec, path.child('podReplacementPolicy')),
    validatePodTemplateSpec(spec.template, path.child('template'), rules),
    validateRestartPolicy(spec, path.child('template', 'spec', 'restartPolicy')),
  );
  return errors;
}

function validateNumbers(spec: Readonly<JobSpec>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const member of [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ] as const) {
    append(errors, validateNonNegative(spec[member], path.child(member)));
  }
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified'));
  }
  return errors;
}

function validateManagedBy({ managedBy }: Readonly<JobSpec>, path: FieldPath): FieldErrors {
  if (managedBy === undefined) return [];
  const errors = isDomainPrefixedPath(path, managedBy);
  if (managedBy.length > MAX_MANAGED_BY_LENGTH) errors.push(tooLong(path, MAX_MANAGED_BY_LENGTH));
  return errors;
}

function validateIndexed(spec: Readonly<JobSpec>, path: FieldPath): FieldErrors {
  const { completions, parallelism = 0, maxFailedIndexes: failed, backoffLimitPerIndex } = spec;
  const errors: FieldErrors = [];
  const most = 'must be less than or equal to';
  if (completions === undefined) errors.push(required(path.child('completions'), 'when completion mode is Indexed'));
  if (parallelism > MAX_INDEXED) {
    const why = `${most} ${MAX_INDEXED} when completion mode is Indexed`;
    errors.push(invalid(path.child('parallelism'), parallelism, why));
  }
  const failedPath = path.child('maxFailedIndexes');
  if (completions !== undefined && failed !== undefined && failed > completions) {
    errors.push(invalid(failedPath, failed, `${most} completions`));
  }
  if (failed !== undefined && failed > MAX_INDEXED) {
    errors.push(invalid(failedPath, failed, `${most} ${MAX_INDEXED}`));
  }
  if (completions === undefined || completions <= MANY_COMPLETIONS || backoffLimitPerIndex === undefined) return errors;
  const when = `when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (failed === undefined) {
    errors.push(required(failedPath, `must be specified when completions is above ${MANY_COMPLETIONS}`));
  }
  if (parallelism > LIMIT_FOR_MANY) {
    errors.push(invalid(path.child('parallelism'), parallelism, `${most} ${LIMIT_FOR_MANY} ${when}`));
  }
  if (failed !== undefined && failed > LIMIT_FOR_MANY) {
    errors.push(invalid(failedPath, failed, `${most} ${LIMIT_FOR_MANY} ${when}`));
  }
  return errors;
}

function validateReplacementPolicy(
  { podReplacementPolicy: policy, podFailurePolicy }: Readonly<JobSpec>,
  path: FieldPath,
): FieldErrors {
  if (policy === undefined) return [];
  const supported = podFailurePolicy ? ['Failed'] : REPLACEMENT_POLICIES;
  return supported.includes(policy) ? [] : [notSupported(path, policy, supported)];
}

function validateRestartPolicy({ template, podFailurePolicy }: Readonly<JobSpec>, path: FieldPath): FieldErrors {
  const policy = template.spec.restartPolicy ?? '';
  if (policy === '' || policy === 'Always') return [required(path, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(path, policy, ['OnFailure', 'Never'])];
  if (!podFailurePolicy || policy === 'Never') return [];
  return [invalid(path, policy, `only ${goQuote('Never')} is supported when podFailurePolicy is specified`)];
}

function validateCompletionsUpdate(spec: Readonly<JobSpec>, old: Readonly<JobSpec>): FieldErrors {
  const path = SPEC.child('completions');
  const { completions } = spec;
  if (spec.completionMode !== 'Indexed') return validateImmutableField(completions, old.completions, path);
  if (completions === undefined || completions === old.completions || completions === spec.parallelism) return [];
  return [invalid(path, completions, 'can only be modified in tandem with spec.parallelism')];
}

function validateTemplateUpdate(
  template: Readonly<PodTemplateSpec>,
  old: Readonly<PodTemplateSpec>,
  mutableDirectives: boolean,
): FieldErrors {
  const expected = mutableDirectives ? withDirectivesOf(template, old) : old;
  if (samePodTemplate(template, expected)) return [];
  return [invalid(SPEC.child('template'), internalValue('PodTemplateSpec', template), IMMUTABLE)];
}

/** The old template with what decides where pods run, and their labels, copied from the new one. */
function withDirectivesOf(template: Readonly<PodTemplateSpec>, old: Readonly<PodTemplateSpec>): PodTemplateSpec {
  const { nodeSelector, tolerations, schedulingGates, affinity } = template.spec;
  const { labels, annotations } = template.metadata;
  const merged: Affinity = { ...old.spec.affinity, nodeAffinity: affinity?.nodeAffinity };
  const none = affinity === undefined && !merged.podAffinity && !merged.podAntiAffinity;
  return {
    metadata: { ...old.metadata, labels, annotations },
    spec: {
      ...old.spec,
      affinity: none ? undefined : merged,
      nodeSelector,
      tolerations,
      schedulingGates,
    },
  };
}
