import { type FieldErrors, FieldPath, invalid, notSupported, required, named } from '../../../machinery/field-error.js';
import { validateNonNegative } from '../../../machinery/validation/fields.js';
import type { CronJobSpec, JobTemplateSpec } from '../../../schema/generated/batch.v1.js';
import type { PodRules } from '../../core/pod/validation/pod-rules.js';
import { selectorValue } from '../../core/internal-form/internal-value.js';
import { validateJobTemplate } from '../job/validation.js';
import { scheduleError } from './schedule.js';
import { isKnownTimeZone } from './time-zone.js';

const SPEC = FieldPath.of('spec');
const CONCURRENCY = ['Allow', 'Forbid', 'Replace'];
const ZONE_PART = /^[A-Za-z.\-_0-9+]{1,14}$/;

export function validateCronJobSpec(
  spec: Readonly<CronJobSpec>,
  old: Readonly<CronJobSpec> | undefined,
  rules: PodRules,
): FieldErrors {
  const policy = spec.concurrencyPolicy ?? '';
  const policyPath = SPEC.child('concurrencyPolicy');
  return [
    ...validateSchedule(spec, old?.schedule.includes('TZ') === true, SPEC.child('schedule')),
    ...validateNonNegative(spec.startingDeadlineSeconds, SPEC.child('startingDeadlineSeconds')),
    ...(old === undefined || old.timeZone !== spec.timeZone
      ? validateTimeZone(spec.timeZone, SPEC.child('timeZone'))
      : []),
    ...(policy === '' ? [required(policyPath)] : []),
    ...(policy !== '' && !CONCURRENCY.includes(policy) ? [notSupported(policyPath, policy, CONCURRENCY)] : []),
    ...validateTemplate(spec.jobTemplate, SPEC.child('jobTemplate', 'spec'), rules),
    ...validateNonNegative(spec.successfulJobsHistoryLimit, SPEC.child('successfulJobsHistoryLimit')),
    ...validateNonNegative(spec.failedJobsHistoryLimit, SPEC.child('failedJobsHistoryLimit')),
  ];
}

/** A time zone inside the schedule was never meant to work; objects that have one may keep it. */
function validateSchedule(
  { schedule, timeZone }: Readonly<CronJobSpec>,
  allowZone: boolean,
  path: FieldPath,
): FieldErrors {
  if (schedule === '') return [required(path)];
  const errors: FieldErrors = [];
  const why = scheduleError(schedule);
  if (why !== undefined) errors.push(invalid(path, schedule, why));
  if (!schedule.includes('TZ')) return errors;
  if (!allowZone) {
    errors.push(invalid(path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'));
  } else if (timeZone !== undefined) {
    errors.push(invalid(path, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'));
  }
  return errors;
}

function validateTimeZone(zone: string | undefined, path: FieldPath): FieldErrors {
  if (zone === undefined) return [];
  if (zone === '') return [invalid(path, named(zone), 'timeZone must be nil or non-empty string')];
  const unknown = invalid(path, named(zone), `unknown time zone ${zone}`);
  const odd = (part: string): boolean => part === '.' || part === '..' || part.startsWith('-') || !ZONE_PART.test(part);
  if (zone.split('/').some(odd)) return [unknown];
  if (zone.toLowerCase() === 'local') {
    const why = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    return [invalid(path, named(zone), why), ...(zone === 'Local' ? [] : [unknown])];
  }
  return isKnownTimeZone(zone) ? [] : [unknown];
}

function validateTemplate({ spec }: Readonly<JobTemplateSpec>, path: FieldPath, rules: PodRules): FieldErrors {
  const errors = validateJobTemplate(spec, path, rules);
  if (spec.selector) {
    errors.push(invalid(path.child('selector'), selectorValue(spec.selector), '`selector` will be auto-generated'));
  }
  if (spec.manualSelector) errors.push(notSupported(path.child('manualSelector'), true, ['nil', 'false']));
  return errors;
}
