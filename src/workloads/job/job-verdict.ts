// Whether a job is done, and how: the reasons and words of the job controller.
import type { Job, JobCondition } from '../../schema/generated/batch.v1.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { conditionOf } from '../conditions.js';

const DEFAULT_BACKOFF_LIMIT = 6;

/** What a job is about to be: written before its last pods are released, and followed by `Complete` or `Failed`. */
export interface Verdict {
  readonly type: 'SuccessCriteriaMet' | 'FailureTarget';
  readonly reason: string;
  readonly message: string;
}

export interface Counts {
  readonly succeeded: number;
  readonly failed: number;
  readonly active: number;
}

/** The one that was written already, or a failure. */
export function failureOrEarlier(
  job: Readonly<Job>,
  counts: Counts,
  active: readonly Readonly<Pod>[],
  nowMs: number,
): Verdict | undefined {
  const { conditions } = job.status;
  for (const type of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const earlier = conditionOf(conditions, type);
    if (earlier?.status === 'True') return { type, reason: earlier.reason ?? '', message: earlier.message ?? '' };
  }
  const fail = (reason: string, message: string): Verdict => ({ type: 'FailureTarget', reason, message });
  if (isBeyondBackoff(job, counts, active)) {
    return fail('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  if (deadlineInMs(job, nowMs) === 0) {
    return fail('DeadlineExceeded', 'Job was active longer than specified deadline');
  }
  return undefined;
}

export function success({ spec }: Readonly<Job>, { succeeded, active }: Counts): Verdict | undefined {
  const isReached = spec.completions === undefined ? succeeded > 0 : succeeded >= spec.completions;
  if (!isReached || active > 0) return undefined;
  const message = 'Reached expected number of succeeded pods';
  return { type: 'SuccessCriteriaMet', reason: 'CompletionsReached', message };
}

function isBeyondBackoff({ spec }: Readonly<Job>, { failed }: Counts, active: readonly Readonly<Pod>[]): boolean {
  const limit = spec.backoffLimit ?? DEFAULT_BACKOFF_LIMIT;
  if (failed > limit) return true;
  if (spec.template.spec.restartPolicy !== 'OnFailure') return false;
  const statuses = active.flatMap(({ status }) => [
    ...(status.initContainerStatuses ?? []),
    ...(status.containerStatuses ?? []),
  ]);
  const restarts = statuses.reduce((total, { restartCount }) => total + restartCount, 0);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Until a job is late; undefined where it has no deadline. */
export function deadlineInMs({ spec, status }: Readonly<Job>, nowMs: number): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || status.startTime === undefined || spec.suspend === true) {
    return undefined;
  }
  return Math.max(0, Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000 - nowMs);
}

export const finishedAt = ({ status }: Readonly<Job>): JobCondition | undefined =>
  status.conditions?.find(({ type, status: holds }) => (type === 'Complete' || type === 'Failed') && holds === 'True');
