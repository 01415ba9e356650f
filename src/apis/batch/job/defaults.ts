import type { FeatureGates } from '../../../registry/kind.js';
import type { Job, JobSpec } from '../../../schema/generated/batch.v1.js';
import { defaultPodTemplate, defaultTemplateBehindGates } from '../../core/pod/defaults.js';

const MAX_INT32 = 2 ** 31 - 1;
const BACKOFF_LIMIT = 6;

export function defaultJob({ metadata, spec }: Job): void {
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? BACKOFF_LIMIT : MAX_INT32;
  const { labels } = spec.template.metadata;
  // One object, not a copy: what the template's labels get later the job gets with it.
  if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = labels;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  defaultJobTemplate(spec);
}

export function defaultJobBehindGates({ spec }: Job, features: FeatureGates): void {
  defaultTemplateBehindGates(spec.template, features);
  if (!features.enabled('JobPodReplacementPolicy')) return;
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
}

/** What a job inside a cron job gets too: the rest waits until the job is made. */
export function defaultJobTemplate(spec: JobSpec): void {
  defaultPodTemplate(spec.template);
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True';
  }
}

/** kube-apiserver fills in labels when it reads what it stored, by when the template has those that were generated. */
export function canonicalizeJob({ metadata, spec }: Job): void {
  const { labels } = spec.template.metadata;
  if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
  canonicalizeJobTemplate(spec);
}

/** In kube-apiserver's store there is no empty list. */
export function canonicalizeJobTemplate({ podFailurePolicy }: JobSpec): void {
  if (podFailurePolicy?.rules?.length === 0) podFailurePolicy.rules = null;
}
