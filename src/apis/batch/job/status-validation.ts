import { append } from '../../../lib/values/append.js';
import { deepEqual } from '../../../lib/values/deep-equal.js';
import { duplicate, type FieldErrors, FieldPath, invalid, required, named } from '../../../machinery/field-error.js';
import { IMMUTABLE, validateNonNegative } from '../../../machinery/validation/fields.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type { Job, JobStatus } from '../../../schema/generated/batch.v1.js';
import { countIndexes, firstCommonIndex } from './indexes.js';
import { withoutValue } from './policies.js';

const STATUS = FieldPath.of('status');
const CONDITIONS = STATUS.child('conditions');

type ConditionType = 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet' | 'Suspended';

const has = ({ status }: Readonly<Job>, type: ConditionType, value = 'True'): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === type && condition.status === value);
const isFinished = (job: Readonly<Job>): boolean => has(job, 'Complete') || has(job, 'Failed');

/**
 * What a job's status may say. Rules newer than the status they check look only at what the update changes; they hold
 * all together where other controllers than the built-in one may manage jobs (`strict`).
 */
export function validateJobStatusUpdate(job: Readonly<Job>, old: Readonly<Job>, features: FeatureGates): FieldErrors {
  const strict = features.enabled('JobManagedBy');
  const anyJobSucceeds = strict || features.enabled('JobPodReplacementPolicy') || has(old, 'SuccessCriteriaMet');
  return [
    ...validateCounters(job.status),
    ...(strict ? validateConsistency(job, old) : []),
    ...validateSuccessCriteria(job, anyJobSucceeds),
    ...(strict ? validateProgress(job, old) : []),
    ...validateSuccessCriteriaUpdate(job, old),
  ];
}

function validateCounters(status: Readonly<JobStatus>): FieldErrors {
  const errors: FieldErrors = [];
  for (const member of ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const) {
    append(errors, validateNonNegative(status[member], STATUS.child(member)));
  }
  const seen = new Set<string>();
  for (const member of ['succeeded', 'failed'] as const) {
    for (const [position, uid] of (status.uncountedTerminatedPods?.[member] ?? []).entries()) {
      const path = STATUS.child('uncountedTerminatedPods', member).index(position);
      if (uid === '') errors.push(invalid(path, uid, 'must not be empty'));
      else if (seen.has(uid)) errors.push(duplicate(path, uid));
      seen.add(uid);
    }
  }
  return errors;
}

function validateConsistency(job: Readonly<Job>, old: Readonly<Job>): FieldErrors {
  const { status, spec } = job;
  const differs = (member: keyof JobStatus): boolean => !deepEqual(status[member], old.status[member]);
  const turned = (type: ConditionType): boolean => has(job, type) !== has(old, type);
  const completed = turned('Complete');
  const failed = turned('Failed');
  const finishedChanged = isFinished(job) !== isFinished(old);
  const complete = has(job, 'Complete');
  const errors: FieldErrors = [];
  const conditions = (why: string): void => void errors.push(withoutValue(CONDITIONS, why));

  if ((completed || failed) && complete && has(job, 'Failed')) {
    conditions('cannot set Complete=True and Failed=true conditions');
  }
  if ((completed || turned('FailureTarget')) && complete && has(job, 'FailureTarget')) {
    conditions('cannot set Complete=True and FailureTarget=true conditions');
  }
  append(errors, validateTimes(job, completed || differs('completionTime'), differs('startTime')));
  if ((failed || differs('failedIndexes')) && has(job, 'Failed') && !has(job, 'FailureTarget')) {
    conditions('cannot set Failed=True condition without the FailureTarget=true condition');
  }
  if ((completed || turned('SuccessCriteriaMet')) && complete && !has(job, 'SuccessCriteriaMet')) {
    conditions('cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  }
  if ((finishedChanged || differs('active')) && (status.active ?? 0) > 0 && isFinished(job)) {
    errors.push(invalid(STATUS.child('active'), status.active, 'active>0 is invalid for finished job'));
  }
  const neverStarts = spec.suspend === true && spec.completions === 0;
  if ((finishedChanged || differs('startTime')) && !neverStarts && !status.startTime && isFinished(job)) {
    errors.push(required(STATUS.child('startTime'), 'startTime is required for finished job'));
  }
  const uncounted = status.uncountedTerminatedPods;
  const leftOver = (uncounted?.failed ?? []).length + (uncounted?.succeeded ?? []).length > 0;
  if ((finishedChanged || differs('uncountedTerminatedPods')) && isFinished(job) && leftOver) {
    const shown = { Succeeded: uncounted?.succeeded ?? null, Failed: uncounted?.failed ?? null };
    errors.push(invalid(STATUS.child('uncountedTerminatedPods'), shown, 'must be empty for finished job'));
  }
  append(errors, validateIndexes(job, differs('completedIndexes'), differs('failedIndexes')));
  if ((finishedChanged || differs('terminating')) && (status.terminating ?? 0) > 0 && isFinished(job)) {
    const why = 'terminating>0 is invalid for finished job';
    errors.push(invalid(STATUS.child('terminating'), status.terminating, why));
  }
  if ((differs('ready') || differs('active')) && status.ready !== undefined && status.ready > (status.active ?? 0)) {
    errors.push(invalid(STATUS.child('ready'), status.ready, 'cannot set more ready pods than active'));
  }
  return errors;
}

function validateTimes(job: Readonly<Job>, completionChanged: boolean, startChanged: boolean): FieldErrors {
  const { startTime, completionTime } = job.status;
  const path = STATUS.child('completionTime');
  const errors: FieldErrors = [];
  if (completionChanged) {
    if (completionTime && !has(job, 'Complete')) {
      const why = 'cannot set completionTime when there is no Complete=True condition';
      errors.push(invalid(path, completionTime, why));
    }
    if (!completionTime && has(job, 'Complete')) {
      errors.push(required(path, 'completionTime is required for Complete jobs'));
    }
  }
  const ordered = !startTime || !completionTime || Date.parse(completionTime) >= Date.parse(startTime);
  if ((startChanged || completionChanged) && !ordered) {
    errors.push(invalid(path, completionTime, 'must be equal to or after `startTime`'));
  }
  return errors;
}

function validateIndexes(
  { spec, status }: Readonly<Job>,
  completedChanged: boolean,
  failedChanged: boolean,
): FieldErrors {
  const { completions, backoffLimitPerIndex } = spec;
  const { completedIndexes = '', failedIndexes } = status;
  const completedPath = STATUS.child('completedIndexes');
  const failedPath = STATUS.child('failedIndexes');
  const errors: FieldErrors = [];
  if (completedChanged && completions !== undefined) {
    const why = countIndexes(completedIndexes, completions);
    if (typeof why === 'string') {
      errors.push(invalid(completedPath, completedIndexes, `error parsing completedIndexes: ${why}`));
    }
  }
  if (failedChanged && completions !== undefined && backoffLimitPerIndex !== undefined && failedIndexes !== undefined) {
    const why = countIndexes(failedIndexes, completions);
    if (typeof why === 'string') {
      errors.push(invalid(failedPath, named(failedIndexes), `error parsing failedIndexes: ${why}`));
    }
  }
  if (completedChanged && completedIndexes !== '' && spec.completionMode !== 'Indexed') {
    const why = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    errors.push(invalid(completedPath, completedIndexes, why));
  }
  if (failedChanged && backoffLimitPerIndex === undefined && failedIndexes !== undefined) {
    const why = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    errors.push(invalid(failedPath, failedIndexes, why));
  }
  if ((completedChanged || failedChanged) && completions !== undefined && failedIndexes !== undefined) {
    const common = firstCommonIndex(completedIndexes, failedIndexes, completions);
    if (common !== undefined) {
      const why = `failedIndexes and completedIndexes overlap at index: ${common}`;
      errors.push(invalid(failedPath, failedIndexes, why));
    }
  }
  return errors;
}

/** `anyJob`: also jobs without a policy of success, or that do not count by index, may meet its criteria. */
function validateSuccessCriteria(job: Readonly<Job>, anyJob: boolean): FieldErrors {
  const errors: FieldErrors = [];
  const met = has(job, 'SuccessCriteriaMet');
  if (!anyJob && met && job.spec.completionMode !== 'Indexed') {
    errors.push(withoutValue(CONDITIONS, 'cannot set SuccessCriteriaMet to NonIndexed Job'));
  }
  if (met && has(job, 'Failed')) {
    errors.push(withoutValue(CONDITIONS, 'cannot set SuccessCriteriaMet=True and Failed=true conditions'));
  }
  if (met && has(job, 'FailureTarget')) {
    errors.push(withoutValue(CONDITIONS, 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'));
  }
  if (!anyJob && met && !job.spec.successPolicy) {
    errors.push(withoutValue(CONDITIONS, 'cannot set SuccessCriteriaMet=True for Job without SuccessPolicy'));
  }
  if (job.spec.successPolicy && !met && has(job, 'Complete')) {
    const why = 'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True';
    errors.push(withoutValue(CONDITIONS, why));
  }
  return errors;
}

function validateProgress(job: Readonly<Job>, old: Readonly<Job>): FieldErrors {
  const { status, spec } = job;
  const errors: FieldErrors = [];
  for (const type of ['Failed', 'Complete', 'FailureTarget'] as const) {
    if (!has(old, type) || has(job, type)) continue;
    errors.push(withoutValue(CONDITIONS, `cannot disable the terminal ${type}=True condition`));
  }
  if ((status.failed ?? 0) < (old.status.failed ?? 0)) {
    errors.push(invalid(STATUS.child('failed'), status.failed ?? 0, 'cannot decrease the failed counter'));
  }
  // An elastic indexed job may be made smaller, and its counter with it.
  const elastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (!elastic && (status.succeeded ?? 0) < (old.status.succeeded ?? 0)) {
    errors.push(invalid(STATUS.child('succeeded'), status.succeeded ?? 0, 'cannot decrease the succeeded counter'));
  }
  const { completionTime } = status;
  if (completionTime && old.status.completionTime && completionTime !== old.status.completionTime) {
    errors.push(invalid(STATUS.child('completionTime'), completionTime, IMMUTABLE));
  }
  const resuming = has(old, 'Suspended') && has(job, 'Suspended', 'False');
  if (old.status.startTime && old.status.startTime !== status.startTime && !resuming && !spec.suspend) {
    errors.push(required(STATUS.child('startTime'), 'startTime cannot be removed for unsuspended job'));
  }
  return errors;
}

function validateSuccessCriteriaUpdate(job: Readonly<Job>, old: Readonly<Job>): FieldErrors {
  const errors: FieldErrors = [];
  const met = has(job, 'SuccessCriteriaMet');
  const wasMet = has(old, 'SuccessCriteriaMet');
  if (wasMet && !met) {
    errors.push(withoutValue(CONDITIONS, 'cannot disable the SuccessCriteriaMet=True condition'));
  }
  if (has(old, 'Complete') && !wasMet && met) {
    const why = 'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions';
    errors.push(withoutValue(CONDITIONS, why));
  }
  return errors;
}
