import { goQuote } from '../../../lib/go/quote.js';
import { humanDuration } from '../../../lib/text/human-duration.js';
import { FieldPath } from '../../../machinery/field-error.js';
import { selectorHasInvalidLabelValue } from '../../../machinery/validation/label-selector.js';
import { nameIsDnsSubdomain } from '../../../machinery/validation/names.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, wideColumn } from '../../../registry/columns.js';
import { dropGatedFields, gated } from '../../../registry/gated-fields.js';
import type { KindDefinition, LifeContext } from '../../../registry/kind.js';
import type { Job, JobSpec } from '../../../schema/generated/batch.v1.js';
import { containerCells, containerColumns } from '../../core/pod/columns.js';
import { equalityOf } from '../../core/pod/equal.js';
import {
  isNewGeneration,
  podNameWarnings,
  selectorCell,
  templateWarnings,
  workloadHooks,
} from '../../core/pod/template-strategy.js';
import { podRules } from '../../core/pod/validation/options.js';
import { canonicalizeJob, defaultJob, defaultJobBehindGates } from './defaults.js';
import { generateSelector, hasPrefixedLabels } from './selector.js';
import { validateJobStatusUpdate } from './status-validation.js';
import { validateJob, validateJobUpdate } from './validation.js';

const SPEC = FieldPath.of('spec');

const sameSpec = equalityOf<Job['spec']>('io.k8s.api.batch.v1.JobSpec');

export const jobs: KindDefinition<Job> = {
  group: 'batch',
  kind: 'Job',
  plural: 'jobs',
  singular: 'job',
  categories: ['all'],
  namespaced: true,
  storage: { keyPrefix: 'jobs' },
  versions: [{ version: 'v1', defaults: defaultJob, defaultsBehindGates: defaultJobBehindGates }],
  storageVersion: 'v1',
  strategy: {
    ...workloadHooks<Job>({
      same: (a, b) => sameSpec(a.spec, b.spec),
      template: ({ spec }) => spec.template,
      prepare: (job, old, { features }) => {
        dropGatedFields(GATED, job, old, features);
        if (old !== undefined) return;
        generateSelector(job);
        job.status = {};
        if (!features.enabled('JobManagedBy')) delete job.spec.managedBy;
        if (!features.enabled('JobBackoffLimitPerIndex')) dropFailIndexRules(job.spec);
      },
    }),
    hasStatus: true,
    hasGeneration: false,
    metadataRules: { validateName: nameIsDnsSubdomain, placedOnUpdate: true },
    canonicalize: canonicalizeJob,
    validate: (job, context) => validateJob(job, podRules(context, false), true),
    validateUpdate: (job, old, context, { whole, change }) => {
      const found = podRules(context, false, old.spec.template);
      const allowInvalidAffinityLabelValue =
        found.allowInvalidAffinityLabelValue || selectorHasInvalidLabelValue(old.spec.selector);
      const rules = { ...found, allowInvalidAffinityLabelValue };
      const mutableDirectives = old.spec.suspend === true && !old.status.startTime;
      return [
        ...whole,
        ...validateJob(job, rules, hasPrefixedLabels(old)),
        ...change,
        ...validateJobUpdate(job.spec, old.spec, rules, mutableDirectives),
      ];
    },
    warningsOnCreate: (job, context) => [...podNameWarnings(job), ...jobSpecWarnings(job.spec, SPEC, context)],
    warningsOnUpdate: (job, old, context) =>
      isNewGeneration(job, old) ? jobSpecWarnings(job.spec, SPEC, context) : [],
    status: {
      validateUpdate: (job, old, { features }) => validateJobStatusUpdate(job, old, features),
    },
    delete: {
      defaultGarbageCollection: 'orphan',
      unsetPolicyWarning:
        'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
    },
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Status', 'Status of the job.'),
      column('Completions', 'How many pods have succeeded.'),
      column('Duration', 'Time required to complete the job.'),
      AGE_COLUMN,
      ...containerColumns,
      wideColumn('Selector', 'The labels of its pods.'),
    ],
    row: (job, now) => [
      job.metadata.name ?? '',
      statusCell(job),
      completionsCell(job),
      durationCell(job, now),
      ageCell(job, now),
      ...containerCells(job.spec.template.spec.containers),
      selectorCell(job.spec.selector),
    ],
  },
  selection: {
    fields: ({ status }) => ({ 'status.successful': String(status.succeeded ?? 0) }),
    fieldLabelError: (label) => `field label ${goQuote(label)} not supported for Job`,
  },
};

const GATED = [
  gated<Job>('JobSuccessPolicy', 'spec.successPolicy'),
  gated<Job>('JobBackoffLimitPerIndex', 'spec.backoffLimitPerIndex'),
  gated<Job>('JobBackoffLimitPerIndex', 'spec.maxFailedIndexes'),
  gated<Job>('JobPodReplacementPolicy', 'spec.podReplacementPolicy'),
];

/** Rules about single indexes have no meaning when failures are not counted by index. */
function dropFailIndexRules({ podFailurePolicy }: JobSpec): void {
  if (podFailurePolicy?.rules) {
    podFailurePolicy.rules = podFailurePolicy.rules.filter(({ action }) => action !== 'FailIndex');
  }
}

/** `path` is the job's spec, which may stand in a cron job. */
export function jobSpecWarnings(spec: Readonly<JobSpec>, path: FieldPath, context: LifeContext): string[] {
  const { completionMode, completions = 0, parallelism = 0 } = spec;
  const warnings = templateWarnings(spec.template, context, path.child('template'));
  if (completionMode === 'Indexed' && completions > 100_000 && parallelism > 10_000) {
    const text =
      'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
    warnings.unshift(`${path.toString()}: ${text}`);
  }
  return warnings;
}

function statusCell({ metadata, status }: Readonly<Job>): string {
  const is = (type: string): boolean =>
    (status.conditions ?? []).find((condition) => condition.type === type)?.status === 'True';
  if (is('Complete')) return 'Complete';
  if (is('Failed')) return 'Failed';
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(is) ?? 'Running';
}

function completionsCell({ spec, status }: Readonly<Job>): string {
  const succeeded = status.succeeded ?? 0;
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationCell({ status }: Readonly<Job>, now: Date): string {
  if (!status.startTime) return '';
  const end = status.completionTime ? Date.parse(status.completionTime) : now.getTime();
  return humanDuration(end - Date.parse(status.startTime));
}
