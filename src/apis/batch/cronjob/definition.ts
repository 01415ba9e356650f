import { type FieldErrors, FieldPath, invalid } from '../../../machinery/field-error.js';
import { nameIsDnsSubdomain } from '../../../machinery/validation/names.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, sinceCell, wideColumn } from '../../../registry/columns.js';
import type { KindDefinition } from '../../../registry/kind.js';
import type { CronJob } from '../../../schema/generated/batch.v1.js';
import { containerCells, containerColumns } from '../../core/pod/columns.js';
import { equalityOf } from '../../core/pod/equal.js';
import { isNewGeneration, podNameWarnings, selectorCell, workloadHooks } from '../../core/pod/template-strategy.js';
import { podRules } from '../../core/pod/validation/options.js';
import { defaultTemplateBehindGates } from '../../core/pod/defaults.js';
import { canonicalizeJobTemplate, defaultJobTemplate } from '../job/defaults.js';
import { jobSpecWarnings } from '../job/definition.js';
import { validateCronJobSpec } from './validation.js';

const JOB_SPEC = FieldPath.of('spec', 'jobTemplate', 'spec');
/** A job's name is the cron job's with eleven characters more, and must itself be a label. */
const MAX_NAME_LENGTH = 52;

const sameSpec = equalityOf<CronJob['spec']>('io.k8s.api.batch.v1.CronJobSpec');

export const cronJobs: KindDefinition<CronJob> = {
  group: 'batch',
  kind: 'CronJob',
  plural: 'cronjobs',
  singular: 'cronjob',
  shortNames: ['cj'],
  categories: ['all'],
  namespaced: true,
  storage: { keyPrefix: 'cronjobs' },
  versions: [
    {
      version: 'v1',
      defaults: setDefaults,
      defaultsBehindGates: ({ spec }, features) => defaultTemplateBehindGates(spec.jobTemplate.spec.template, features),
    },
  ],
  storageVersion: 'v1',
  strategy: {
    ...workloadHooks<CronJob>({
      same: (a, b) => sameSpec(a.spec, b.spec),
      template: ({ spec }) => spec.jobTemplate.spec.template,
      prepare: (object, old) => {
        if (old === undefined) object.status = {};
      },
    }),
    hasStatus: true,
    hasGeneration: false,
    metadataRules: { validateName: nameIsDnsSubdomain },
    canonicalize: ({ spec }) => canonicalizeJobTemplate(spec.jobTemplate.spec),
    validate: ({ metadata, spec }, context) => [
      ...validateCronJobSpec(spec, undefined, podRules(context, false)),
      ...validateNameLength(metadata.name ?? ''),
    ],
    validateUpdate: ({ spec }, old, context) =>
      validateCronJobSpec(spec, old.spec, podRules(context, false, old.spec.jobTemplate.spec.template)),
    warningsOnCreate: (object, context) => [
      ...podNameWarnings(object),
      ...jobSpecWarnings(object.spec.jobTemplate.spec, JOB_SPEC, context),
    ],
    warningsOnUpdate: (object, old, context) => [
      ...(isNewGeneration(object, old) ? jobSpecWarnings(object.spec.jobTemplate.spec, JOB_SPEC, context) : []),
      ...(object.spec.schedule.includes('TZ')
        ? [
            'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
          ]
        : []),
    ],
    status: { metadataRules: { placedOnUpdate: true }, validateUpdate: () => [] },
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Schedule', 'When jobs are made, in cron form.'),
      column('Timezone', 'The zone the schedule is read in.'),
      { name: 'Suspend', type: 'boolean', description: 'Whether making jobs is put off.' },
      { name: 'Active', type: 'integer', description: 'How many of its jobs run.' },
      column('Last Schedule', 'The time since a job was last made.'),
      AGE_COLUMN,
      ...containerColumns,
      wideColumn('Selector', 'The labels of its pods.'),
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      object.spec.schedule,
      object.spec.timeZone ?? '<none>',
      object.spec.suspend === undefined ? '<unset>' : object.spec.suspend ? 'True' : 'False',
      (object.status.active ?? []).length,
      object.status.lastScheduleTime ? sinceCell(object.status.lastScheduleTime, now) : '<none>',
      ageCell(object, now),
      ...containerCells(object.spec.jobTemplate.spec.template.spec.containers),
      selectorCell(object.spec.jobTemplate.spec.selector),
    ],
  },
};

function validateNameLength(name: string): FieldErrors {
  if (name.length <= MAX_NAME_LENGTH) return [];
  return [invalid(FieldPath.of('metadata', 'name'), name, `must be no more than ${MAX_NAME_LENGTH} characters`)];
}

function setDefaults({ spec }: CronJob): void {
  spec.concurrencyPolicy ||= 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  defaultJobTemplate(spec.jobTemplate.spec);
}
